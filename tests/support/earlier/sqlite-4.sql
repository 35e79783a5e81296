-- A store as the program before the relational layout wrote it, schema version 4.
pragma application_id = 1129466958;
BEGIN TRANSACTION;
CREATE TABLE attempts (
      id text primary key, job integer not null, number integer not null, run integer not null,
      attempt integer not null, fence integer not null, retries integer not null,
      origin integer not null, retry_of integer, occurrence integer not null,
      missed integer not null, owner text not null, claimed_at integer not null,
      started_at integer not null, finished_at integer not null, outcome integer not null,
      expire_at integer not null, odd integer, detail text
    ) without rowid;
INSERT INTO "attempts" VALUES('att-000001',1,1,1,1,1,0,0,NULL,1767614400000,0,'node-1',1767614400000,1767614400000,1767614400000,0,1770206400000,NULL,NULL);
INSERT INTO "attempts" VALUES('att-000002',2,1,1,1,1,0,0,NULL,1767614400000,0,'node-1',1767614400000,1767614400000,1767614400005,1,1770206400005,NULL,'{"error":{"name":"Error","message":"no","stack":null}}');
INSERT INTO "attempts" VALUES('att-000003',3,1,1,1,1,0,0,NULL,1767614400000,0,'node-1',1767614400000,1767614400000,1767614400007,0,1770206400007,NULL,'{"result":{"ok":true},"measures":{"cpuMs":3}}');
INSERT INTO "attempts" VALUES('att-000005',1,2,2,1,2,0,0,NULL,1767618000000,59,'node-1',1767618000000,1767618000000,1767618000000,0,1770210000000,NULL,NULL);
CREATE TABLE capped (
      lane text not null, seq integer not null, token text not null, primary key (lane, seq)
    ) without rowid;
INSERT INTO "capped" VALUES('default/u2',19,'tok-000007');
CREATE TABLE jobs (
      seq integer primary key, id text not null, kind integer not null, series text,
      line integer not null, lane text not null, spec_at integer not null,
      state integer not null, ready integer, rank integer, due_at integer, until_at integer,
      expire_at integer, attempts integer not null, fence integer not null,
      version integer not null, body text not null,
      token text, owner text, attempt_id text, claimed_at integer
    );
INSERT INTO "jobs" VALUES(1,'minutely',0,NULL,1,'default',1,0,0,1767616260000,1767618060000,NULL,NULL,2,2,6,'[1,1767618060000,null,0,0,2,2,2,0,0,0,59,0,1767618000000,1767618000000,0,1767618000000,null,null,1767618000000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(2,'failing',0,NULL,2,'acme/u1',1,0,0,1767612660005,1767614460005,NULL,NULL,1,1,3,'[2,1767614400000,1767614460005,0,0,1,0,0,1,0,0,0,5,1767614400000,1767614400005,1,null,null,null,1767614400005,1,{"current":{"run":1,"attempt":1,"failures":1,"failingSince":1767614400005,"retryOf":null},"lastError":{"name":"Error","message":"no","stack":null}}]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(3,'once',0,NULL,1,'default',1,3,NULL,NULL,NULL,NULL,1770206400007,1,1,3,'[1,null,null,0,0,1,1,1,0,0,0,0,7,1767614400000,1767614400007,0,1767614400007,1767614400007,0,1767614400007,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(4,'running',0,NULL,1,'default/u2',1,1,NULL,NULL,NULL,1767614415000,NULL,1,1,2,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]','tok-000004','node-1','att-000004',1767614400000);
INSERT INTO "jobs" VALUES(5,'daily',0,NULL,1,'default',1,0,0,1767664800000,1767666600000,NULL,NULL,0,0,1,'[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(6,'paused',0,NULL,1,'default',1,2,NULL,NULL,NULL,1767700800000,NULL,0,0,2,'[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,2,{"pause":{"at":1767614400000,"until":1767700800000,"note":"a while"}}]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(7,'cancelled',0,NULL,1,'default',1,5,NULL,NULL,NULL,NULL,NULL,0,0,2,'[1,null,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,1767614400000,5,1767614400000,2,{"endedNote":"enough"}]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(8,'manual',0,NULL,1,'default',1,0,NULL,NULL,NULL,NULL,NULL,0,0,1,'[1,null,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(9,'oddna𒟿me',0,NULL,1,'default',1,0,0,1767664800000,1767666600000,NULL,NULL,0,0,1,'[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(10,'declared',0,NULL,1,'default',1,0,0,1767664800000,1767666600000,NULL,NULL,0,0,1,'[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(11,'task-1',1,'daily',3,'default',1,0,0,1767612660000,1767614460000,NULL,NULL,0,0,1,'[0,1767614460000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(12,'task-2',1,'daily',3,'default',1,0,0,1767612660000,1767614460000,NULL,NULL,0,0,1,'[0,1767614460000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(13,'lane-0',0,NULL,4,'a/u',1,1,NULL,NULL,NULL,1767618015000,NULL,1,1,2,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]','tok-000006','node-1','att-000006',1767618000000);
INSERT INTO "jobs" VALUES(14,'lane-1',0,NULL,4,'b',1,1,NULL,NULL,NULL,1767618015000,NULL,1,1,2,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]','tok-000006','node-1','att-000007',1767618000000);
INSERT INTO "jobs" VALUES(15,'lane-2',0,NULL,4,'a/u',1,0,1,1767612600000,1767614400000,NULL,NULL,0,0,1,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(16,'lane-3',0,NULL,4,'b',1,0,1,1767612600000,1767614400000,NULL,NULL,0,0,1,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(17,'lane-4',0,NULL,4,'a/u',1,0,1,1767612600000,1767614400000,NULL,NULL,0,0,1,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(18,'lane-5',0,NULL,4,'b',1,0,1,1767612600000,1767614400000,NULL,NULL,0,0,1,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(19,'limited',0,NULL,5,'default/u2',1,1,NULL,NULL,NULL,1767618015000,NULL,1,1,2,'[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]','tok-000007','node-1','att-000008',1767618000000);
CREATE TABLE leases (
      token text primary key, until_at integer not null, open integer not null, seqs text not null
    ) without rowid;
INSERT INTO "leases" VALUES('tok-000004',1767614415000,1,'[4]');
INSERT INTO "leases" VALUES('tok-000006',1767618015000,2,'[13,14]');
INSERT INTO "leases" VALUES('tok-000007',1767618015000,1,'[19]');
CREATE TABLE lines (
      id integer primary key, queue text not null, handler text not null, unique (queue, handler)
    );
INSERT INTO "lines" VALUES(1,'default','work');
INSERT INTO "lines" VALUES(2,'q2','work');
INSERT INTO "lines" VALUES(3,'tasks','work');
INSERT INTO "lines" VALUES(4,'turns','work');
INSERT INTO "lines" VALUES(5,'limits','work');
INSERT INTO "lines" VALUES(6,'pruned','work');
CREATE TABLE logged (
      job integer not null, attempt text not null, primary key (job, attempt)
    ) without rowid;
INSERT INTO "logged" VALUES(4,'att-000004');
CREATE TABLE logs (
      attempt text not null, n integer not null, at integer not null, level text not null,
      message text not null, fields text,
      primary key (attempt, n)
    ) without rowid;
INSERT INTO "logs" VALUES('att-000004',0,1767614400000,'info','hello','{"a":1}');
INSERT INTO "logs" VALUES('att-000004',1,1767614400001,'warn','world',NULL);
CREATE TABLE marks (name text primary key, value text not null) without rowid;
CREATE TABLE meta (application text, schema_version integer);
INSERT INTO "meta" VALUES('carillon',4);
CREATE TABLE progress (
      job integer primary key, attempt text not null, fraction real, note text, checkpoint text,
      at integer not null
    );
INSERT INTO "progress" VALUES(4,'att-000004',0.5,'half','{"at":3}',1767614400000);
CREATE TABLE queues (
      queue text primary key, paused integer not null default 0, cursor text not null default ''
    , taken integer not null default 0) without rowid;
INSERT INTO "queues" VALUES('limits',0,'default',1);
INSERT INTO "queues" VALUES('q2',1,'',0);
INSERT INTO "queues" VALUES('turns',0,'b',1);
CREATE TABLE rates (lane text primary key, whole_at real not null) without rowid;
INSERT INTO "rates" VALUES('default/u2',1767618000200.0);
CREATE TABLE records (
      kind text not null, key text not null, value text not null, version integer not null,
      expire_at integer,
      primary key (kind, key)
    ) without rowid;
INSERT INTO "records" VALUES('incident','att-000002','{"code":"first_failure","subject":{"kind":"job","id":"failing","name":"work","tenant":"acme"},"at":1767614400005,"detail":"no","nextAt":1767614460005}',1,1767700800005);
INSERT INTO "records" VALUES('k','gone','1',1,1767614400001);
INSERT INTO "records" VALUES('k','x','{"a":[1]}',1,NULL);
INSERT INTO "records" VALUES('lane','default/u2','{"weight":2,"runningMax":3,"count":5,"perMs":1000}',1,NULL);
INSERT INTO "records" VALUES('turn','limits

default','{"lane":"default/u2","taken":1}',1,1770210000000);
INSERT INTO "records" VALUES('turn','turns

a','{"lane":"a/u","taken":1}',1,1770210000000);
CREATE TABLE sequence (next integer not null);
INSERT INTO "sequence" VALUES(21);
CREATE TABLE skips (
      job integer not null, first_at integer not null, last_at integer not null,
      count integer not null, reason text not null, expire_at integer not null,
      primary key (job, first_at)
    ) without rowid;
INSERT INTO "skips" VALUES(1,1767614460000,1767617940000,59,'coalesced',1770209940000);
CREATE TABLE specs (
      seq integer primary key, spec text not null, tenant text not null, app text, definition text,
      declared text, created_at integer not null
    );
INSERT INTO "specs" VALUES(1,'{"defaults":4,"handler":"work","trigger":{"kind":"interval","everyMs":60000,"from":"schedule","anchor":null},"name":"Every minute","first":"now","tags":["a"]}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(2,'{"defaults":4,"handler":"work","trigger":{"kind":"interval","everyMs":60000,"from":"schedule","anchor":null},"lane":"acme/u1","queue":"q2","tenant":"acme","first":"now"}','acme',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(3,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"payload":{"text":"h\u0000i \ud800 😀","n":[1,2]}}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(4,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"default/u2"}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(5,'{"defaults":4,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null}}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(6,'{"defaults":4,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null}}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(7,'{"defaults":4,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null}}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(8,'{"defaults":3,"handler":"work","trigger":{"kind":"manual"}}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(9,'{"defaults":4,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null},"name":"odd\u0000"}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(10,'{"defaults":4,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null}}','default','shop','mail','{"app":"shop","definition":"mail","key":"k","generation":"g1"}',1767614400000);
INSERT INTO "specs" VALUES(11,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614460000},"queue":"tasks"}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(12,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614460000},"queue":"tasks"}','default',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(13,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"a/u","queue":"turns","tenant":"a"}','a',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(14,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"queue":"turns","tenant":"b"}','b',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(15,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"a/u","queue":"turns","tenant":"a"}','a',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(16,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"queue":"turns","tenant":"b"}','b',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(17,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"a/u","queue":"turns","tenant":"a"}','a',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(18,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"queue":"turns","tenant":"b"}','b',NULL,NULL,NULL,1767614400000);
INSERT INTO "specs" VALUES(19,'{"defaults":3,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"default/u2","queue":"limits"}','default',NULL,NULL,NULL,1767614400000);
CREATE TABLE tallies (
      line integer not null, kind integer not null, state integer not null, tenant text not null,
      n integer not null, pruned integer not null,
      primary key (line, kind, state, tenant)
    ) without rowid;
INSERT INTO "tallies" VALUES(1,0,0,'default',5,0);
INSERT INTO "tallies" VALUES(1,0,1,'default',1,0);
INSERT INTO "tallies" VALUES(1,0,2,'default',1,0);
INSERT INTO "tallies" VALUES(1,0,3,'default',1,0);
INSERT INTO "tallies" VALUES(1,0,5,'default',1,0);
INSERT INTO "tallies" VALUES(2,0,0,'acme',1,0);
INSERT INTO "tallies" VALUES(2,0,1,'acme',0,0);
INSERT INTO "tallies" VALUES(3,1,0,'default',2,0);
INSERT INTO "tallies" VALUES(4,0,0,'a',2,0);
INSERT INTO "tallies" VALUES(4,0,0,'b',2,0);
INSERT INTO "tallies" VALUES(4,0,1,'a',1,0);
INSERT INTO "tallies" VALUES(4,0,1,'b',1,0);
INSERT INTO "tallies" VALUES(5,0,0,'default',0,0);
INSERT INTO "tallies" VALUES(5,0,1,'default',1,0);
INSERT INTO "tallies" VALUES(6,0,0,'default',0,0);
INSERT INTO "tallies" VALUES(6,0,1,'default',0,0);
INSERT INTO "tallies" VALUES(6,0,3,'default',0,1);
CREATE UNIQUE INDEX jobs_id on jobs (id);
CREATE INDEX timed on jobs (line, due_at) where ready = 0;
CREATE INDEX ready on jobs (line, lane, rank) where ready = 1;
CREATE INDEX paused on jobs (until_at) where state = 2 and until_at is not null;
CREATE INDEX expiring on jobs (line, kind, expire_at) where expire_at is not null;
CREATE INDEX series on jobs (series) where series is not null;
CREATE INDEX specs_tenant on specs (tenant);
CREATE INDEX declared on specs (app, definition) where app is not null;
CREATE INDEX leases_until on leases (until_at);
CREATE UNIQUE INDEX attempts_job on attempts (job, number);
CREATE INDEX attempts_odd on attempts (expire_at) where odd = 1;
CREATE INDEX skips_expiring on skips (expire_at);
CREATE INDEX tallies_tenant on tallies (tenant);
CREATE INDEX records_expiring on records (expire_at) where expire_at is not null;
CREATE INDEX listed on jobs (case when state >= 2 then state
  when state = 0 and substr(body, 2, 1) = '0' then 1 else 0 end, seq) where kind = 0;
COMMIT;
