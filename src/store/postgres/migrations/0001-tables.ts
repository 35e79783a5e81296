// Jobs, their history, and what claims need. `jobs` has no index on anything that running a job
// changes, and room on each page for what a claim and a settle write; the one moment a job waits
// for is a row of `moments`, which comes and goes.

import type { Migration } from './migration.ts'

/** Small tables that are written all the time are cleaned as soon as there is something to clean. */
const hot =
  'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, ' +
  'autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1'

const key = 'text collate "C"'

const hotTables = (s: string) => [
  `create table ${s}.jobs (
    seq bigint primary key, id ${key} not null, series ${key}, kind smallint not null,
    share int not null, line int not null, lane ${key} not null, spec_at bigint not null,
    state smallint not null, due_at bigint, rank bigint, until_at bigint, expire_at bigint,
    attempts bigint not null, fence bigint not null, version bigint not null,
    body text not null, token ${key}, owner ${key}, attempt_id ${key}, claimed_at bigint
  ) with (fillfactor = 40, ${hot})`,
  `create sequence ${s}.jobs_seq as bigint`,
  `create unique index jobs_id on ${s}.jobs (id)`,
  `create index jobs_share on ${s}.jobs (share, seq)`,
  `create index jobs_series on ${s}.jobs (series, seq) where series is not null`,
  // What: 0 by time, 1 ready, 2 the end of a pause, 3 and 4 the end of an ended job or task.
  `create table ${s}.moments (
    seq bigint not null, line int not null, what smallint not null, at bigint not null,
    rank bigint, lane ${key} not null
  ) with (${hot})`,
  `create index moments_timed on ${s}.moments (line, at, seq) where what = 0`,
  `create index moments_ready on ${s}.moments (line, lane, rank, seq) where what = 1`,
  `create index moments_paused on ${s}.moments (at, seq) where what = 2`,
  `create index moments_expiring on ${s}.moments (line, what, at, seq) where what >= 3`,
  `create table ${s}.leases (
    token ${key} primary key, until_at bigint not null, open int not null, seqs bigint[] not null
  ) with (${hot})`,
  `alter table ${s}.leases alter column seqs set storage external`,
  `create index leases_until on ${s}.leases (until_at)`,
]

const countTables = (s: string) => [
  `create table ${s}.lines (
    id int generated always as identity primary key, queue ${key} not null, handler ${key} not null,
    unique (queue, handler)
  )`,
  `create table ${s}.shares (
    id int generated always as identity primary key, line int not null, tenant ${key} not null,
    kind smallint not null, unique (line, tenant, kind)
  )`,
  `create index shares_tenant on ${s}.shares (tenant)`,
  `create table ${s}.queues (
    queue ${key} primary key, paused boolean not null default false,
    cursor ${key} not null default ''
  ) with (fillfactor = 50)`,
  `create table ${s}.tallies (
    share int not null, state smallint not null, n bigint not null, pruned bigint not null,
    primary key (share, state)
  ) with (fillfactor = 50, ${hot})`,
  // Moves between states that are not summed up yet: -1 is not there, -2 is pruned.
  `create sequence ${s}.deltas_seq as bigint`,
  `create table ${s}.deltas (
    id bigint not null, shares int[] not null, befores smallint[] not null,
    afters smallint[] not null, ns int[] not null
  ) with (${hot})`,
  `create view ${s}.counted as
    select share, state, sum(n)::bigint as n, sum(pruned)::bigint as pruned from (
      select share, state, n, pruned from ${s}.tallies
      union all
      select m.share, m.was, -m.n, case when m.becomes = -2 then m.n else 0 end
        from ${s}.deltas d, unnest(d.shares, d.befores, d.afters, d.ns) m (share, was, becomes, n)
        where m.was >= 0
      union all
      select m.share, m.becomes, m.n, 0
        from ${s}.deltas d, unnest(d.shares, d.befores, d.afters, d.ns) m (share, was, becomes, n)
        where m.becomes >= 0
    ) parts group by share, state`,
]

const restTables = (s: string) => [
  `create table ${s}.specs (
    seq bigint primary key, spec_at bigint not null, spec text not null, declared text,
    app ${key}, definition ${key}, created_at bigint not null, kept bigint not null,
    sought_id ${key}, sought_name ${key} not null
  )`,
  `create index specs_declared on ${s}.specs (app, definition) where app is not null`,
  // An occurrence only where the attempt is the ledger's word on it.
  `create table ${s}.attempts (
    job bigint not null, number bigint not null, id ${key} not null, run bigint not null,
    occurrence bigint, claimed_at bigint not null, finished_at bigint not null,
    outcome smallint not null, expire_at bigint not null, odd smallint, body text not null
  )`,
  `create unique index attempts_job on ${s}.attempts (job, number)`,
  `create index attempts_id on ${s}.attempts (id)`,
  `create index attempts_odd on ${s}.attempts (expire_at) where odd = 1`,
  `create table ${s}.marks (name ${key} primary key, value ${key} not null)`,
  `insert into ${s}.marks values ('attempts pruned up to', '')`,
  `create table ${s}.skips (
    job bigint not null, first_at bigint not null, last_at bigint not null, count bigint not null,
    reason text not null, expire_at bigint not null, primary key (job, first_at)
  )`,
  `create index skips_expiring on ${s}.skips (expire_at)`,
  `create table ${s}.progress (
    job bigint primary key, attempt ${key} not null, fraction double precision, note ${key},
    checkpoint text, at bigint not null
  ) with (fillfactor = 50, ${hot})`,
  `create table ${s}.logs (
    job bigint not null, attempt ${key} not null, n int not null, at bigint not null,
    level text not null, message ${key} not null, fields text, primary key (attempt, n)
  )`,
  `create index logs_job on ${s}.logs (job)`,
  `create table ${s}.records (
    kind ${key} not null, key ${key} not null, value text not null, version bigint not null,
    expire_at bigint, primary key (kind, key)
  ) with (${hot})`,
  `create index records_expiring on ${s}.records (expire_at) where expire_at is not null`,
]

export const tables: Migration = {
  version: 1,
  up: s => [...hotTables(s), ...countTables(s), ...restTables(s)],
  down: s => [
    `drop view ${s}.counted`,
    ...[
      'records logs progress skips marks attempts specs deltas tallies queues shares lines leases',
      'moments jobs',
    ]
      .join(' ')
      .split(' ')
      .map(table => `drop table ${s}.${table}`),
    `drop sequence ${s}.deltas_seq`,
    `drop sequence ${s}.jobs_seq`,
  ],
}
