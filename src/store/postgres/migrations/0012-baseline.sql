-- The schema of the PostgreSQL store: the baseline. Frozen: a change of the schema is a further file, never
-- an edit of this one (install.test.ts). `carillon.` stands for the schema a store is given. Texts that
-- people choose are stored as keys (store/shared/text.ts); times are milliseconds since 1970.

create table carillon.meta (application text, schema_version int);

-- Small tables that are written all the time are vacuumed as soon as there is something to clean.
-- No index on anything that running a job changes, and room on each page for what a claim and a
-- settle write.
create table carillon.jobs (
  seq bigint primary key,                    -- the order of creation
  id text collate "C" not null,
  series text collate "C",
  kind smallint not null,
  share int not null,
  line int not null,
  lane text collate "C" not null,
  spec_at bigint not null,                   -- the version of the job its spec was written with
  state smallint not null,
  due_at bigint,
  rank bigint,
  until_at bigint,                           -- the end of the lease, or of a pause
  expire_at bigint,
  attempts bigint not null,
  fence bigint not null,
  version bigint not null,
  body text not null,                        -- JSON, see store/shared/body.ts
  token text collate "C",
  owner text collate "C",
  attempt_id text collate "C",
  claimed_at bigint
) with (
  fillfactor = 40, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
create sequence carillon.jobs_seq as bigint;
create unique index jobs_id on carillon.jobs (id);
create index jobs_share on carillon.jobs (share, seq);
create index jobs_series on carillon.jobs (series, seq) where series is not null;

-- The one time a job waits for. Deleting the row is the lock on the job.
create table carillon.moments (
  seq bigint not null,
  line int not null,
  what smallint not null,                    -- 0 delayed, 1 ready, 2 end of a pause, 3 and 4 expiry of a job or task
  at bigint not null,
  rank bigint,                               -- the order inside a lane
  lane text collate "C" not null
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
create index moments_timed on carillon.moments (line, at, seq) where what = 0;
create index moments_ready on carillon.moments (line, lane, rank, seq) where what = 1;
create index moments_paused on carillon.moments (at, seq) where what = 2;
create index moments_expiring on carillon.moments (line, what, at, seq) where what >= 3;

-- One row per claimed batch: the jobs it holds, and how many of them are not settled yet.
create table carillon.leases (
  token text collate "C" primary key,
  until_at bigint not null,
  open int not null,
  seqs bigint[] not null
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
alter table carillon.leases alter column seqs set storage external;
create index leases_until on carillon.leases (until_at);

-- Numbers for a queue and handler, and for a tenant there. They never change.
create table carillon.lines (
  id int generated always as identity primary key,
  queue text collate "C" not null,
  handler text collate "C" not null,
  unique (queue, handler)
);
create table carillon.shares (
  id int generated always as identity primary key,
  line int not null,
  tenant text collate "C" not null,
  kind smallint not null,
  unique (line, tenant, kind)
);
create index shares_tenant on carillon.shares (tenant);

create table carillon.queues (
  queue text collate "C" primary key,
  paused boolean not null default false,
  cursor text collate "C" not null default '',   -- the tenant served last
  taken int not null default 0                   -- how many it was given since its turn came
) with (fillfactor = 50);

-- How many jobs there are in each state. Changes are inserted as rows and summed up now and then, so
-- that no two transactions wait for one count. -1 is not there, -2 is pruned.
create table carillon.tallies (
  share int not null,
  state smallint not null,
  n bigint not null,
  pruned bigint not null,
  primary key (share, state)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
create sequence carillon.deltas_seq as bigint;
create table carillon.deltas (
  id bigint not null,
  shares int[] not null,
  befores smallint[] not null,
  afters smallint[] not null,
  ns int[] not null
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
create view carillon.counted as
  select share, state, sum(n)::bigint as n, sum(pruned)::bigint as pruned from (
    select share, state, n, pruned from carillon.tallies
    union all
    select m.share, m.was, -m.n, case when m.becomes = -2 then m.n else 0 end
      from carillon.deltas d, unnest(d.shares, d.befores, d.afters, d.ns) m (share, was, becomes, n)
      where m.was >= 0
    union all
    select m.share, m.becomes, m.n, 0
      from carillon.deltas d, unnest(d.shares, d.befores, d.afters, d.ns) m (share, was, becomes, n)
      where m.becomes >= 0
  ) parts group by share, state;

-- What running a job never changes.
create table carillon.specs (
  seq bigint primary key,
  spec_at bigint not null,
  spec text not null,                        -- JSON, with the payload
  declared text,                             -- JSON
  app text collate "C",
  definition text collate "C",
  created_at bigint not null,
  kept bigint not null,                      -- how many attempts the job keeps
  sought_id text collate "C",
  sought_name text collate "C" not null
);
create index specs_declared on carillon.specs (app, definition) where app is not null;

-- An occurrence only where the attempt decides it. `odd` is 1 where an attempt does not expire in the
-- order of the ids: those are indexed by expiry, pruning finds the others by walking the ids.
create table carillon.attempts (
  job bigint not null,
  number bigint not null,
  id text collate "C" not null,
  run bigint not null,
  occurrence bigint,
  claimed_at bigint not null,
  finished_at bigint not null,
  outcome smallint not null,
  expire_at bigint not null,
  odd smallint,
  body text not null                         -- JSON, see store/shared/attempt.ts
);
create unique index attempts_job on carillon.attempts (job, number);
create index attempts_id on carillon.attempts (id);
create index attempts_odd on carillon.attempts (expire_at) where odd = 1;
create table carillon.marks (name text collate "C" primary key, value text collate "C" not null);
insert into carillon.marks values ('attempts pruned up to', '');

-- Occurrences that were not run, and why.
create table carillon.skips (
  job bigint not null,
  first_at bigint not null,
  last_at bigint not null,
  count bigint not null,
  reason text not null,
  expire_at bigint not null,
  primary key (job, first_at)
);
create index skips_expiring on carillon.skips (expire_at);

create table carillon.progress (
  job bigint primary key,
  attempt text collate "C" not null,
  fraction double precision,
  note text collate "C",
  checkpoint text,                           -- JSON
  at bigint not null
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
create table carillon.logs (
  job bigint not null,
  attempt text collate "C" not null,
  n int not null,
  at bigint not null,
  level text not null,
  message text collate "C" not null,
  fields text,                               -- JSON
  primary key (attempt, n)
);
create index logs_job on carillon.logs (job);

create table carillon.records (
  kind text collate "C" not null,
  key text collate "C" not null,
  value text not null,                       -- JSON
  version bigint not null,
  expire_at bigint,
  primary key (kind, key)
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1
);
create index records_expiring on carillon.records (expire_at) where expire_at is not null;

-- What lanes and tenants with limits have used up. The limits themselves are records.
create table carillon.capped (
  lane text collate "C" not null,
  seq bigint not null,
  token text collate "C" not null,
  primary key (lane, seq)
);
create table carillon.rates (
  lane text collate "C" primary key,
  whole_at double precision not null         -- when the token bucket is full again
);

-- Jobs by status class, for lists by status: an index on `jobs` would be written by every claim and
-- settle; the class changes only when a job starts for the first time, is paused or ends.
create table carillon.listed (seq bigint primary key, share int not null, mark smallint not null);
create index listed_share on carillon.listed (share, mark, seq);
create index listed_mark on carillon.listed (mark, seq);

create function carillon.keep_listed() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from carillon.listed where seq = old.seq;
  else
    insert into carillon.listed values (new.seq, new.share,
        case when new.state >= 2 then new.state
          when new.state = 0 and substr(new.body, 2, 1) = '0' then 1 else 0 end)
      on conflict (seq) do update set share = excluded.share, mark = excluded.mark;
  end if;
  return null;
end $$;
create trigger listed_update after update on carillon.jobs
  for each row when (new.kind = 0 and (old.share <> new.share
    or (case when old.state >= 2 then old.state
      when old.state = 0 and substr(old.body, 2, 1) = '0' then 1 else 0 end)
    <> (case when new.state >= 2 then new.state
      when new.state = 0 and substr(new.body, 2, 1) = '0' then 1 else 0 end)))
  execute function carillon.keep_listed();
create trigger listed_delete after delete on carillon.jobs
  for each row when (old.kind = 0) execute function carillon.keep_listed();

-- The sets of functions that are installed (see functions.ts), and when a node last named each.
create table carillon.function_sets (name text primary key, used_at bigint not null);
