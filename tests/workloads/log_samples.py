"""A small log of each text format, made up, from which tests make thousands of broken ones."""

from __future__ import annotations

SWF = b"""\
; MaxProcs: 8
1 0 0 60 4 -1 -1 4 90 -1 1 1 1 1 -1 -1 -1 -1
2 10 5 60.5 2 -1 -1 2 -1 -1 0 2 1 1 -1 -1 -1 -1
3 20 0 -1 4 -1 -1 4 90 -1 5 1 1 1 -1 -1 1 -1
"""

SACCT = b"""\
JobID|JobIDRaw|User|Partition|Submit|Start|End|ElapsedRaw|Timelimit|State|NNodes|NCPUS|ReqMem|AllocTRES|Comment|JobName
1_1|1|ann|a,b|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600|1-02:00:00|COMPLETED|2|64|4Gc|cpu=64,mem=8G,gres/gpu:a=2,node=2||x
1_1.0|1.0|||2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600||COMPLETED|2|64||cpu=64||x
2|2|ben|b|2024-03-31T02:30:00|Unknown|2024-03-31T02:31:00|0|UNLIMITED|CANCELLED by 7|2|64|16Gn||some|text|x
3+0|3|cem|b|2024-10-27T02:30:00|2024-10-27T02:40:00|2024-10-27T02:10:00|1800|30|TIMEOUT|1.5K|64|0n|energy=5|"|y
z
3+1|4|cem|b|2024-10-27T02:30:00|2024-10-27T02:40:00|2024-10-27T02:10:00|1800|30|NODE_FAIL|1|64|?|energy=5||y
"""

PBS = (
    b"01/26/2016 00:00:00;Q;1.srv;queue=q\n"
    b"01/26/2016 00:00:37;E;1.srv;user=u group=g project=p jobname=j queue=q ctime=100 qtime=100 etime=110 "
    b"start=200 exec_host=c1/0*2+c2/0-1 exec_vnode=(c1:ncpus=2)+(c2:ncpus=2) Resource_List.ncpus=4 "
    b"Resource_List.mem=5gb Resource_List.select=2:ncpus=2:ngpus=1 Resource_List.walltime=00:02:43 end=300 "
    b"Exit_status=0\n"
    b"01/26/2016 00:00:38;E;2[3].srv;user=u queue=q ctime=100 start=200 end=250 "
    b"Resource_List.nodes=1:ppn=4:gpus=1+n7 Resource_List.walltime=100:00:00 Exit_status=271\n"
    b"01/26/2016 00:00:39;D;4.srv;requestor=u\n"
)

LSF = (
    b'"JOB_NEW" "9.11" 1 2 3\n'
    b'"JOB_FINISH" "9.11" 1389683139 404717 22025 33882739 128 1389642318 0 0 1389642771 "u" "q" '
    b'"span[ptile=16]" "" "" "login" "/run" "" "%J.out" "%J.err" "1389642318.404717" 1 "h1" '
    b'2 "16*h1" "h2" 64 60.0 "run" "#BSUB -W 12:00;""x"" ./app" '
    + b"0 " * 19
    + b'"" "projA" 0 128 "" "" 2 10725376 0\n'
)

SGE = (
    b"# comment\nq:h1:g:u:name:7:sge:0:1310761621:1311095354:1311095414:0:0:60:60.0:0.08:1.0:"
    + b"0:" * 14
    + b"NONE:dep:mype:4:2:60.1:7.3:0.0:-l h_rt=36000,qname=q -pe mype 1:0.0:NONE:1.0:0:0\n"
    b"q:h2:g:u:name:7:sge:0:1310761621:1311095354:1311095414:0:1:60:60.0:0.08:1.0:"
    + b"0:" * 14
    + b"NONE:dep:mype:4:2:60.1:7.3:0.0:-l h_rt=36000:0.0:1.h2:1.0:0:0\n"
)

ALIBABA_2018 = b"""\
M1,2,j_1,1,Terminated,86400,86462,100.0,0.39
R2_1,1,j_1,1,Terminated,86463,86480,50.0,0.20
J3_1_2,1,j_1,1,Terminated,86531,86602,100.0,0.39
task_x,1,j_2,9,Running,87120,0,50.0,
"""

ALIBABA_2020 = b"""\
job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type
a,worker,2.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC
b,ps,1.0,Running,1739162.0,,600.0,29.296875,,T4
"""

ALIBABA_2023 = b"""\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,12000,16384,1,1000,,LS,Running,0,12537496,0
p1,6000,12288,0,0,"V100M16|V100M32",BE,Pending,427061,12902960,
"""

F_DATA = b"""\
jid,usr,jnam,adt,sdt,edt,elpl,nnuma,cnumat,cnumr,exit state
j_1,usr_1,jnam_1,2023-05-01 00:00:00,2023-05-01 00:01:00,2023-05-01 01:01:00+09:00,7200,12,576,576,completed
j_2,usr_2,jnam_1,2023-05-01T00:00:00Z,2023-05-01 00:01:00.5,,7200,12,576,576,failed
"""

INTREPID = b"job_id,submit_s,runtime_s,nodes\n1,0,7560,512\n2,7,7568,512\n"

TABLE = b"""\
job_id;submit_s;run_s;limit_s;nodes;state;partitions;user_id
1;2024-01-01T00:00:00;01:00:00;7200;4;COMPLETED;a,b;ann
2;1704067300;60.5;inf;2;FAILED;"b";"b;n"
"""

SAMPLES = {
    "swf": SWF,
    "sacct": SACCT,
    "pbs": PBS,
    "lsf": LSF,
    "sge": SGE,
    "alibaba-v2018": ALIBABA_2018,
    "alibaba-gpu-v2020": ALIBABA_2020,
    "alibaba-gpu-v2023": ALIBABA_2023,
    "f-data": F_DATA,
    "intrepid": INTREPID,
    "table": TABLE,
}
"""Registered name of the reader -> a log of that format."""

KEPT = {
    "swf": 2,
    "sacct": 1,
    "pbs": 2,
    "lsf": 1,
    "sge": 1,
    "alibaba-v2018": 3,
    "alibaba-gpu-v2020": 1,
    "alibaba-gpu-v2023": 1,
    "f-data": 1,
    "intrepid": 2,
    "table": 2,
}
"""How many of each log's records are jobs, counted by hand."""
