-- A schema as the program before the relational layout wrote it, version 9; of its functions only the one
-- that a trigger calls.

CREATE SCHEMA earlier;

CREATE FUNCTION earlier.listed_1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  begin
    if tg_op = 'DELETE' then
      delete from "earlier".listed where seq = old.seq;
    else
      insert into "earlier".listed values (new.seq, new.share, case when new.state >= 2 then new.state
  when new.state = 0 and substr(new.body, 2, 1) = '0' then 1 else 0 end)
        on conflict (seq) do update set share = excluded.share, mark = excluded.mark;
    end if;
    return null;
  end $$;

CREATE TABLE earlier.attempts (
    job bigint NOT NULL,
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    run bigint NOT NULL,
    occurrence bigint,
    claimed_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    outcome smallint NOT NULL,
    expire_at bigint NOT NULL,
    odd smallint,
    body text NOT NULL
);

CREATE TABLE earlier.capped (
    lane text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    token text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE earlier.deltas (
    id bigint NOT NULL,
    shares integer[] NOT NULL,
    befores smallint[] NOT NULL,
    afters smallint[] NOT NULL,
    ns integer[] NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');

CREATE TABLE earlier.tallies (
    share integer NOT NULL,
    state smallint NOT NULL,
    n bigint NOT NULL,
    pruned bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');

CREATE VIEW earlier.counted AS
 SELECT parts.share,
    parts.state,
    (sum(parts.n))::bigint AS n,
    (sum(parts.pruned))::bigint AS pruned
   FROM ( SELECT tallies.share,
            tallies.state,
            tallies.n,
            tallies.pruned
           FROM earlier.tallies
        UNION ALL
         SELECT m.share,
            m.was,
            (- m.n),
                CASE
                    WHEN (m.becomes = '-2'::integer) THEN m.n
                    ELSE 0
                END AS "case"
           FROM earlier.deltas d,
            LATERAL UNNEST(d.shares, d.befores, d.afters, d.ns) m(share, was, becomes, n)
          WHERE (m.was >= 0)
        UNION ALL
         SELECT m.share,
            m.becomes,
            m.n,
            0
           FROM earlier.deltas d,
            LATERAL UNNEST(d.shares, d.befores, d.afters, d.ns) m(share, was, becomes, n)
          WHERE (m.becomes >= 0)) parts
  GROUP BY parts.share, parts.state;

CREATE SEQUENCE earlier.deltas_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE earlier.jobs (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    series text COLLATE pg_catalog."C",
    kind smallint NOT NULL,
    share integer NOT NULL,
    line integer NOT NULL,
    lane text NOT NULL COLLATE pg_catalog."C",
    spec_at bigint NOT NULL,
    state smallint NOT NULL,
    due_at bigint,
    rank bigint,
    until_at bigint,
    expire_at bigint,
    attempts bigint NOT NULL,
    fence bigint NOT NULL,
    version bigint NOT NULL,
    body text NOT NULL,
    token text COLLATE pg_catalog."C",
    owner text COLLATE pg_catalog."C",
    attempt_id text COLLATE pg_catalog."C",
    claimed_at bigint
)
WITH (fillfactor='40', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');

CREATE SEQUENCE earlier.jobs_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE earlier.leases (
    token text NOT NULL COLLATE pg_catalog."C",
    until_at bigint NOT NULL,
    open integer NOT NULL,
    seqs bigint[] NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');
ALTER TABLE ONLY earlier.leases ALTER COLUMN seqs SET STORAGE EXTERNAL;

CREATE TABLE earlier.lines (
    id integer NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    handler text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE earlier.lines ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME earlier.lines_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE earlier.listed (
    seq bigint NOT NULL,
    share integer NOT NULL,
    mark smallint NOT NULL
);

CREATE TABLE earlier.logs (
    job bigint NOT NULL,
    attempt text NOT NULL COLLATE pg_catalog."C",
    n integer NOT NULL,
    at bigint NOT NULL,
    level text NOT NULL,
    message text NOT NULL COLLATE pg_catalog."C",
    fields text
);

CREATE TABLE earlier.marks (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE earlier.meta (
    application text,
    schema_version integer
);

CREATE TABLE earlier.moments (
    seq bigint NOT NULL,
    line integer NOT NULL,
    what smallint NOT NULL,
    at bigint NOT NULL,
    rank bigint,
    lane text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');

CREATE TABLE earlier.progress (
    job bigint NOT NULL,
    attempt text NOT NULL COLLATE pg_catalog."C",
    fraction double precision,
    note text COLLATE pg_catalog."C",
    checkpoint text,
    at bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');

CREATE TABLE earlier.queues (
    queue text NOT NULL COLLATE pg_catalog."C",
    paused boolean DEFAULT false NOT NULL,
    cursor text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    taken integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE earlier.rates (
    lane text NOT NULL COLLATE pg_catalog."C",
    whole_at double precision NOT NULL
);

CREATE TABLE earlier.records (
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL,
    version bigint NOT NULL,
    expire_at bigint
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', autovacuum_analyze_scale_factor='0.1');

CREATE TABLE earlier.shares (
    id integer NOT NULL,
    line integer NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    kind smallint NOT NULL
);

ALTER TABLE earlier.shares ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME earlier.shares_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE earlier.skips (
    job bigint NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    count bigint NOT NULL,
    reason text NOT NULL,
    expire_at bigint NOT NULL
);

CREATE TABLE earlier.specs (
    seq bigint NOT NULL,
    spec_at bigint NOT NULL,
    spec text NOT NULL,
    declared text,
    app text COLLATE pg_catalog."C",
    definition text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    kept bigint NOT NULL,
    sought_id text COLLATE pg_catalog."C",
    sought_name text NOT NULL COLLATE pg_catalog."C"
);

INSERT INTO earlier.attempts VALUES (1, 1, 'att-000001', 1, 1767614400000, 1767614400000, 1767614400000, 0, 1770206400000, NULL, '[1,1,0,0,1767614400000,0,null,1767614400000,"node-1"]');
INSERT INTO earlier.attempts VALUES (2, 1, 'att-000002', 1, 1767614400000, 1767614400000, 1767614400005, 1, 1770206400005, NULL, '[1,1,0,0,1767614400000,0,null,1767614400000,"node-1",{"error":{"name":"Error","message":"no","stack":null}}]');
INSERT INTO earlier.attempts VALUES (3, 1, 'att-000003', 1, 1767614400000, 1767614400000, 1767614400007, 0, 1770206400007, NULL, '[1,1,0,0,1767614400000,0,null,1767614400000,"node-1",{"result":{"ok":true},"measures":{"cpuMs":3}}]');
INSERT INTO earlier.attempts VALUES (1, 2, 'att-000005', 2, 1767618000000, 1767618000000, 1767618000000, 0, 1770210000000, NULL, '[1,2,0,59,1767618000000,0,null,1767618000000,"node-1"]');

INSERT INTO earlier.capped VALUES ('default/u2', 19, 'tok-000007');

INSERT INTO earlier.deltas VALUES (1, '{1,1,1,3,6,1,5,1,5,2,6,4}', '{-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1}', '{1,5,3,0,0,0,1,2,0,1,1,0}', '{1,1,1,1,2,5,1,1,2,1,1,2}');

INSERT INTO earlier.jobs VALUES (1, 'minutely', NULL, 0, 1, 1, 'default', 6, 0, 1767618060000, 1767616260000, NULL, NULL, 2, 2, 6, '[1,1767618060000,null,0,0,2,2,2,0,0,0,59,0,1767618000000,1767618000000,0,1767618000000,null,null,1767618000000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (2, 'failing', NULL, 0, 3, 3, 'acme/u1', 3, 0, 1767614460005, 1767612660005, NULL, NULL, 1, 1, 3, '[2,1767614400000,1767614460005,0,0,1,0,0,1,0,0,0,5,1767614400000,1767614400005,1,null,null,null,1767614400005,1,{"current":{"run":1,"attempt":1,"failures":1,"failingSince":1767614400005,"retryOf":null},"lastError":{"name":"Error","message":"no","stack":null}}]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (3, 'once', NULL, 0, 1, 1, 'default', 3, 3, NULL, NULL, NULL, 1770206400007, 1, 1, 3, '[1,null,null,0,0,1,1,1,0,0,0,0,7,1767614400000,1767614400007,0,1767614400007,1767614400007,0,1767614400007,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (4, 'running', NULL, 0, 1, 1, 'default/u2', 2, 1, NULL, NULL, 1767614415000, NULL, 1, 1, 2, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', 'tok-000004', 'node-1', 'att-000004', 1767614400000);
INSERT INTO earlier.jobs VALUES (5, 'daily', NULL, 0, 1, 1, 'default', 1, 0, 1767666600000, 1767664800000, NULL, NULL, 0, 0, 1, '[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (6, 'paused', NULL, 0, 1, 1, 'default', 2, 2, NULL, NULL, 1767700800000, NULL, 0, 0, 2, '[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,2,{"pause":{"at":1767614400000,"until":1767700800000,"note":"a while"}}]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (7, 'cancelled', NULL, 0, 1, 1, 'default', 2, 5, NULL, NULL, NULL, NULL, 0, 0, 2, '[1,null,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,1767614400000,5,1767614400000,2,{"endedNote":"enough"}]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (8, 'manual', NULL, 0, 1, 1, 'default', 1, 0, NULL, NULL, NULL, NULL, 0, 0, 1, '[1,null,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (9, 'oddna𒟿me', NULL, 0, 1, 1, 'default', 1, 0, 1767666600000, 1767664800000, NULL, NULL, 0, 0, 1, '[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (10, 'declared', NULL, 0, 1, 1, 'default', 1, 0, 1767666600000, 1767664800000, NULL, NULL, 0, 0, 1, '[1,1767666600000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (11, 'task-1', 'daily', 1, 4, 4, 'default', 1, 0, 1767614460000, 1767612660000, NULL, NULL, 0, 0, 1, '[0,1767614460000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (12, 'task-2', 'daily', 1, 4, 4, 'default', 1, 0, 1767614460000, 1767612660000, NULL, NULL, 0, 0, 1, '[0,1767614460000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (13, 'lane-0', NULL, 0, 5, 5, 'a/u', 2, 1, NULL, NULL, 1767618015000, NULL, 1, 1, 2, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', 'tok-000006', 'node-1', 'att-000006', 1767618000000);
INSERT INTO earlier.jobs VALUES (14, 'lane-1', NULL, 0, 6, 5, 'b', 2, 1, NULL, NULL, 1767618015000, NULL, 1, 1, 2, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', 'tok-000006', 'node-1', 'att-000007', 1767618000000);
INSERT INTO earlier.jobs VALUES (15, 'lane-2', NULL, 0, 5, 5, 'a/u', 1, 0, 1767614400000, 1767612600000, NULL, NULL, 0, 0, 1, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (16, 'lane-3', NULL, 0, 6, 5, 'b', 1, 0, 1767614400000, 1767612600000, NULL, NULL, 0, 0, 1, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (17, 'lane-4', NULL, 0, 5, 5, 'a/u', 1, 0, 1767614400000, 1767612600000, NULL, NULL, 0, 0, 1, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (18, 'lane-5', NULL, 0, 6, 5, 'b', 1, 0, 1767614400000, 1767612600000, NULL, NULL, 0, 0, 1, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', NULL, NULL, NULL, NULL);
INSERT INTO earlier.jobs VALUES (19, 'limited', NULL, 0, 2, 2, 'default/u2', 2, 1, NULL, NULL, 1767618015000, NULL, 1, 1, 2, '[0,1767614400000,null,0,0,0,0,0,0,0,0,0,0,null,null,null,null,null,null,1767614400000,1]', 'tok-000007', 'node-1', 'att-000008', 1767618000000);

INSERT INTO earlier.leases VALUES ('tok-000006', 1767618015000, 2, '{13,14}');
INSERT INTO earlier.leases VALUES ('tok-000007', 1767618015000, 1, '{19}');
INSERT INTO earlier.leases VALUES ('tok-000004', 1767614415000, 1, '{4}');

INSERT INTO earlier.lines OVERRIDING SYSTEM VALUE VALUES (1, 'default', 'work');
INSERT INTO earlier.lines OVERRIDING SYSTEM VALUE VALUES (2, 'limits', 'work');
INSERT INTO earlier.lines OVERRIDING SYSTEM VALUE VALUES (3, 'q2', 'work');
INSERT INTO earlier.lines OVERRIDING SYSTEM VALUE VALUES (4, 'tasks', 'work');
INSERT INTO earlier.lines OVERRIDING SYSTEM VALUE VALUES (5, 'turns', 'work');
INSERT INTO earlier.lines OVERRIDING SYSTEM VALUE VALUES (6, 'pruned', 'work');

INSERT INTO earlier.listed VALUES (1, 1, 0);
INSERT INTO earlier.listed VALUES (2, 3, 0);
INSERT INTO earlier.listed VALUES (3, 1, 3);
INSERT INTO earlier.listed VALUES (4, 1, 0);
INSERT INTO earlier.listed VALUES (5, 1, 0);
INSERT INTO earlier.listed VALUES (6, 1, 2);
INSERT INTO earlier.listed VALUES (7, 1, 5);
INSERT INTO earlier.listed VALUES (8, 1, 0);
INSERT INTO earlier.listed VALUES (9, 1, 0);
INSERT INTO earlier.listed VALUES (10, 1, 0);
INSERT INTO earlier.listed VALUES (13, 5, 0);
INSERT INTO earlier.listed VALUES (14, 6, 0);
INSERT INTO earlier.listed VALUES (15, 5, 1);
INSERT INTO earlier.listed VALUES (16, 6, 1);
INSERT INTO earlier.listed VALUES (17, 5, 1);
INSERT INTO earlier.listed VALUES (18, 6, 1);
INSERT INTO earlier.listed VALUES (19, 2, 0);

INSERT INTO earlier.logs VALUES (4, 'att-000004', 0, 1767614400000, 'info', 'hello', '{"a":1}');
INSERT INTO earlier.logs VALUES (4, 'att-000004', 1, 1767614400001, 'warn', 'world', NULL);

INSERT INTO earlier.marks VALUES ('attempts pruned up to', '');

INSERT INTO earlier.meta VALUES ('carillon', 9);

INSERT INTO earlier.moments VALUES (1, 1, 0, 1767618060000, 1767616260000, 'default');
INSERT INTO earlier.moments VALUES (2, 3, 0, 1767614460005, 1767612660005, 'acme/u1');
INSERT INTO earlier.moments VALUES (3, 1, 3, 1770206400007, NULL, 'default');
INSERT INTO earlier.moments VALUES (5, 1, 0, 1767666600000, 1767664800000, 'default');
INSERT INTO earlier.moments VALUES (6, 1, 2, 1767700800000, NULL, 'default');
INSERT INTO earlier.moments VALUES (9, 1, 0, 1767666600000, 1767664800000, 'default');
INSERT INTO earlier.moments VALUES (10, 1, 0, 1767666600000, 1767664800000, 'default');
INSERT INTO earlier.moments VALUES (11, 4, 0, 1767614460000, 1767612660000, 'default');
INSERT INTO earlier.moments VALUES (12, 4, 0, 1767614460000, 1767612660000, 'default');
INSERT INTO earlier.moments VALUES (15, 5, 1, 1767614400000, 1767612600000, 'a/u');
INSERT INTO earlier.moments VALUES (16, 5, 1, 1767614400000, 1767612600000, 'b');
INSERT INTO earlier.moments VALUES (17, 5, 1, 1767614400000, 1767612600000, 'a/u');
INSERT INTO earlier.moments VALUES (18, 5, 1, 1767614400000, 1767612600000, 'b');

INSERT INTO earlier.progress VALUES (4, 'att-000004', 0.5, 'half', '{"at":3}', 1767614400000);

INSERT INTO earlier.queues VALUES ('limits', false, 'default', 0);
INSERT INTO earlier.queues VALUES ('q2', true, '', 0);
INSERT INTO earlier.queues VALUES ('turns', false, 'b', 0);

INSERT INTO earlier.rates VALUES ('default/u2', 1767618000200);

INSERT INTO earlier.records VALUES ('incident', 'att-000002', '{"code":"first_failure","subject":{"kind":"job","id":"failing","name":"work","tenant":"acme"},"at":1767614400005,"detail":"no","nextAt":1767614460005}', 1, 1767700800005);
INSERT INTO earlier.records VALUES ('k', 'gone', '1', 1, 1767614400001);
INSERT INTO earlier.records VALUES ('k', 'x', '{"a":[1]}', 1, NULL);
INSERT INTO earlier.records VALUES ('lane', 'default/u2', '{"weight":2,"runningMax":3,"count":5,"perMs":1000}', 1, NULL);
INSERT INTO earlier.records VALUES ('turn', 'limits

default', '{"lane":"default/u2","taken":1}', 1, 1770210000000);
INSERT INTO earlier.records VALUES ('turn', 'turns

a', '{"lane":"a/u","taken":1}', 1, 1770210000000);

INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (1, 1, 'default', 0);
INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (2, 2, 'default', 0);
INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (3, 3, 'acme', 0);
INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (4, 4, 'default', 1);
INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (5, 5, 'a', 0);
INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (6, 5, 'b', 0);
INSERT INTO earlier.shares OVERRIDING SYSTEM VALUE VALUES (7, 6, 'default', 0);

INSERT INTO earlier.skips VALUES (1, 1767614460000, 1767617940000, 59, 'coalesced', 1770209940000);

INSERT INTO earlier.specs VALUES (1, 6, '{"defaults":1,"handler":"work","trigger":{"kind":"interval","everyMs":60000,"from":"schedule","anchor":null},"name":"Every minute","first":"now","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":["a"],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'EVERY MINUTE');
INSERT INTO earlier.specs VALUES (2, 3, '{"defaults":1,"handler":"work","trigger":{"kind":"interval","everyMs":60000,"from":"schedule","anchor":null},"lane":"acme/u1","queue":"q2","tenant":"acme","first":"now","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (3, 3, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"payload":{"text":"h\u0000i \ud800 😀","n":[1,2]},"missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (4, 2, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"default/u2","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (5, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null},"missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (6, 2, '{"defaults":1,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null},"missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (7, 2, '{"defaults":1,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null},"missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (8, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"manual"},"missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (9, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null},"name":"odd\u0000","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, 'ODDNA𒟿ME', 'ODD');
INSERT INTO earlier.specs VALUES (10, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"cron","expression":"30 2 * * *","zone":"UTC","dialect":"extended","dst":null},"missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"next","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', '{"app":"shop","definition":"mail","key":"k","generation":"g1"}', 'shop', 'mail', 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (11, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614460000},"queue":"tasks","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (12, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614460000},"queue":"tasks","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (13, 2, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"a/u","queue":"turns","tenant":"a","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (14, 2, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"queue":"turns","tenant":"b","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (15, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"a/u","queue":"turns","tenant":"a","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (16, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"queue":"turns","tenant":"b","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (17, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"a/u","queue":"turns","tenant":"a","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (18, 1, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"queue":"turns","tenant":"b","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');
INSERT INTO earlier.specs VALUES (19, 2, '{"defaults":1,"handler":"work","trigger":{"kind":"once","at":1767614400000},"lane":"default/u2","queue":"limits","missed":{"policy":"once"},"overlap":{"policy":"skip"},"retry":{"limit":3,"backoff":{"kind":"exponential","baseMs":60000,"maxMs":3600000,"jitter":0},"resetAfterMs":null,"exhausted":"stop","yields":false},"retention":{"attempts":100,"ageMs":2592000000},"tags":[],"metadata":{}}', NULL, NULL, NULL, 1767614400000, 100, NULL, 'WORK');

INSERT INTO earlier.tallies VALUES (7, 3, 0, 1);

SELECT pg_catalog.setval('earlier.deltas_seq', 1, true);

SELECT pg_catalog.setval('earlier.jobs_seq', 19, true);

SELECT pg_catalog.setval('earlier.lines_id_seq', 6, true);

SELECT pg_catalog.setval('earlier.shares_id_seq', 7, true);

ALTER TABLE ONLY earlier.capped
    ADD CONSTRAINT capped_pkey PRIMARY KEY (lane, seq);

ALTER TABLE ONLY earlier.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY earlier.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (token);

ALTER TABLE ONLY earlier.lines
    ADD CONSTRAINT lines_pkey PRIMARY KEY (id);

ALTER TABLE ONLY earlier.lines
    ADD CONSTRAINT lines_queue_handler_key UNIQUE (queue, handler);

ALTER TABLE ONLY earlier.listed
    ADD CONSTRAINT listed_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY earlier.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (attempt, n);

ALTER TABLE ONLY earlier.marks
    ADD CONSTRAINT marks_pkey PRIMARY KEY (name);

ALTER TABLE ONLY earlier.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (job);

ALTER TABLE ONLY earlier.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (queue);

ALTER TABLE ONLY earlier.rates
    ADD CONSTRAINT rates_pkey PRIMARY KEY (lane);

ALTER TABLE ONLY earlier.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (kind, key);

ALTER TABLE ONLY earlier.shares
    ADD CONSTRAINT shares_line_tenant_kind_key UNIQUE (line, tenant, kind);

ALTER TABLE ONLY earlier.shares
    ADD CONSTRAINT shares_pkey PRIMARY KEY (id);

ALTER TABLE ONLY earlier.skips
    ADD CONSTRAINT skips_pkey PRIMARY KEY (job, first_at);

ALTER TABLE ONLY earlier.specs
    ADD CONSTRAINT specs_pkey PRIMARY KEY (seq);

ALTER TABLE ONLY earlier.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (share, state);

CREATE INDEX attempts_id ON earlier.attempts USING btree (id);

CREATE UNIQUE INDEX attempts_job ON earlier.attempts USING btree (job, number);

CREATE INDEX attempts_odd ON earlier.attempts USING btree (expire_at) WHERE (odd = 1);

CREATE UNIQUE INDEX jobs_id ON earlier.jobs USING btree (id);

CREATE INDEX jobs_series ON earlier.jobs USING btree (series, seq) WHERE (series IS NOT NULL);

CREATE INDEX jobs_share ON earlier.jobs USING btree (share, seq);

CREATE INDEX leases_until ON earlier.leases USING btree (until_at);

CREATE INDEX listed_mark ON earlier.listed USING btree (mark, seq);

CREATE INDEX listed_share ON earlier.listed USING btree (share, mark, seq);

CREATE INDEX logs_job ON earlier.logs USING btree (job);

CREATE INDEX moments_expiring ON earlier.moments USING btree (line, what, at, seq) WHERE (what >= 3);

CREATE INDEX moments_paused ON earlier.moments USING btree (at, seq) WHERE (what = 2);

CREATE INDEX moments_ready ON earlier.moments USING btree (line, lane, rank, seq) WHERE (what = 1);

CREATE INDEX moments_timed ON earlier.moments USING btree (line, at, seq) WHERE (what = 0);

CREATE INDEX records_expiring ON earlier.records USING btree (expire_at) WHERE (expire_at IS NOT NULL);

CREATE INDEX shares_tenant ON earlier.shares USING btree (tenant);

CREATE INDEX skips_expiring ON earlier.skips USING btree (expire_at);

CREATE INDEX specs_declared ON earlier.specs USING btree (app, definition) WHERE (app IS NOT NULL);

CREATE TRIGGER listed_delete AFTER DELETE ON earlier.jobs FOR EACH ROW WHEN ((old.kind = 0)) EXECUTE FUNCTION earlier.listed_1();

CREATE TRIGGER listed_update AFTER UPDATE ON earlier.jobs FOR EACH ROW WHEN (((new.kind = 0) AND ((old.share <> new.share) OR (
        CASE
            WHEN (old.state >= 2) THEN (old.state)::integer
            WHEN ((old.state = 0) AND (substr(old.body, 2, 1) = '0'::text)) THEN 1
            ELSE 0
        END <>
        CASE
            WHEN (new.state >= 2) THEN (new.state)::integer
            WHEN ((new.state = 0) AND (substr(new.body, 2, 1) = '0'::text)) THEN 1
            ELSE 0
        END)))) EXECUTE FUNCTION earlier.listed_1();

