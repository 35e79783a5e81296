-- The relational store on SQLite: the frozen baseline. PostgreSQL has the same tables and columns.
-- Texts that people choose are stored as keys (src/store/shared/text.ts); times are milliseconds since
-- 1970; no query looks into a `detail` column.

-- What a job is. Written when it is created and when it is edited, never by running it.
create table jobs (
  seq integer primary key autoincrement,   -- the order of creation
  id text not null unique,
  kind text not null,                      -- job, task
  series_id text,                          -- of a task: the job that made it
  tenant text not null,
  queue text not null,
  handler text not null,
  lane text not null,                      -- the tenant, or tenant/user: who takes turns
  name text not null,
  app text,                                -- who declared it in code
  definition text,
  declared text,                           -- JSON
  spec text not null,                      -- JSON, with the payload
  created_at integer not null
) strict;
create index jobs_tenant on jobs (tenant);
create index jobs_series on jobs (series_id) where series_id is not null;
create index jobs_definition on jobs (app, definition) where app is not null;

-- Where a job stands: the narrow row that claims and settles write.
create table job_states (
  seq integer primary key,
  queue text not null,
  handler text not null,
  lane text not null,
  kind text not null,
  state text not null,                     -- waiting, running, paused, completed, failed, cancelled
  waiting_for text not null,               -- start, firing, retry
  ready integer,                           -- of a waiting job with a due time: 0 delayed, 1 ready to be claimed
  rank integer,                            -- the order inside a lane: due time less what its priority is worth
  due_at integer,
  until_at integer,                        -- the end of the lease, or of the pause
  expire_at integer,                       -- of an ended job: when it may be pruned
  attempts integer not null,
  fence integer not null,
  version integer not null,
  token text,                              -- the lease, while it runs
  owner text,
  attempt_id text,
  claimed_at integer,
  detail text not null
) strict;
create index job_states_delayed on job_states (queue, handler, due_at) where ready = 0;
create index job_states_ready on job_states (queue, lane, rank, seq, handler, due_at) where ready = 1;
create index job_states_until on job_states (until_at) where until_at is not null;
create index job_states_expiring on job_states (queue, kind, expire_at) where expire_at is not null;
-- For lists by state: an entry does not change while a schedule runs.
create index job_states_listed on job_states (
  (case when state = 'waiting' and waiting_for = 'start' then 'unstarted'
    when state in ('waiting', 'running') then 'live' else state end),
  seq
) where kind = 'job';

create table attempts (
  id text primary key,                     -- grows with time
  job integer not null,
  number integer not null,                 -- of its job, without gaps
  run integer not null,
  attempt integer not null,                -- of its run
  fence integer not null,
  retries integer not null,
  origin text not null,                    -- schedule, manual, retry, backfill
  retry_of integer,
  occurrence integer not null,
  missed integer not null,
  owner text not null,
  claimed_at integer not null,
  started_at integer not null,
  finished_at integer not null,
  outcome text not null,
  clock_epoch integer not null,
  expire_at integer not null,              -- from then on its age does not protect it
  is_aged integer not null default 0,      -- past expire_at, kept because it is among the newest of its job
  detail text                              -- reason, error, result, measures, payload; null for none
) strict, without rowid;
create unique index attempts_job on attempts (job, number);
create index attempts_expiring on attempts (expire_at) where is_aged = 0;

-- Occurrences that were not run, and why.
create table skips (
  job integer not null,
  first_at integer not null,
  last_at integer not null,
  count integer not null,
  reason text not null,
  clock_epoch integer not null,
  expire_at integer not null,
  primary key (job, first_at)
) strict, without rowid;
create index skips_expiring on skips (expire_at);

create table progress (
  job integer primary key,
  attempt_id text not null,
  fraction real,
  note text,
  checkpoint text,                         -- JSON
  updated_at integer not null
) strict;

create table log_lines (
  attempt_id text not null,
  n integer not null,
  job integer not null,
  at integer not null,
  level text not null,
  message text not null,
  fields text,                             -- JSON
  primary key (attempt_id, n)
) strict, without rowid;
create index log_lines_job on log_lines (job);

create table records (
  kind text not null,
  key text not null,
  value text not null,                     -- JSON
  version integer not null,
  expire_at integer,
  primary key (kind, key)
) strict, without rowid;
create index records_expiring on records (expire_at) where expire_at is not null;

create table queues (
  queue text primary key,
  paused integer not null default 0,
  turn_lane text not null default '',      -- the tenant served last
  turn_taken integer not null default 0    -- how many it was given since its turn came
) strict, without rowid;

-- How many jobs there are, kept by every write.
create table job_counts (
  tenant text not null,
  queue text not null,
  handler text not null,
  kind text not null,
  state text not null,
  count integer not null,
  pruned integer not null,                 -- ended in this state and pruned since
  primary key (tenant, queue, handler, kind, state)
) strict, without rowid;
-- What readers ask; on PostgreSQL it adds the changes that are not summed up yet.
create view current_counts as
  select tenant, queue, handler, kind, state, count, pruned from job_counts;

-- What lanes and tenants with limits have used up. The limits themselves are records.
create table lane_running (
  lane text not null,
  job integer not null,
  token text not null,
  primary key (lane, job)
) strict, without rowid;
create table lane_rates (
  lane text primary key,
  full_at real not null                    -- when the token bucket is full again
) strict, without rowid;
