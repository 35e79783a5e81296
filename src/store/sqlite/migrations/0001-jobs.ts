// Jobs, their history, and what claims need. A waiting job with a moment has `ready` 0 or 1 and
// sits in exactly one of the indexes `timed` and `ready`; all others have it null.

import type { Migration } from './migration.ts'

export const jobs: Migration = {
  version: 1,
  up: [
    `create table sequence (next integer not null)`,
    `insert into sequence values (1)`,
    `create table lines (
      id integer primary key, queue text not null, handler text not null, unique (queue, handler)
    )`,
    `create table queues (
      queue text primary key, paused integer not null default 0, cursor text not null default ''
    ) without rowid`,
    `create table jobs (
      seq integer primary key, id text not null, kind integer not null, series text,
      line integer not null, lane text not null, spec_at integer not null,
      state integer not null, ready integer, rank integer, due_at integer, until_at integer,
      expire_at integer, attempts integer not null, fence integer not null,
      version integer not null, body text not null,
      token text, owner text, attempt_id text, claimed_at integer
    )`,
    `create unique index jobs_id on jobs (id)`,
    `create index timed on jobs (line, due_at) where ready = 0`,
    `create index ready on jobs (line, lane, rank) where ready = 1`,
    `create index paused on jobs (until_at) where state = 2 and until_at is not null`,
    `create index expiring on jobs (line, kind, expire_at) where expire_at is not null`,
    `create index series on jobs (series) where series is not null`,
    `create table specs (
      seq integer primary key, spec text not null, tenant text not null, app text, definition text,
      declared text, created_at integer not null
    )`,
    `create index specs_tenant on specs (tenant)`,
    `create index declared on specs (app, definition) where app is not null`,
    `create table leases (
      token text primary key, until_at integer not null, open integer not null, seqs text not null
    ) without rowid`,
    `create index leases_until on leases (until_at)`,
    `create table attempts (
      id text primary key, job integer not null, number integer not null, run integer not null,
      attempt integer not null, fence integer not null, retries integer not null,
      origin integer not null, retry_of integer, occurrence integer not null,
      missed integer not null, owner text not null, claimed_at integer not null,
      started_at integer not null, finished_at integer not null, outcome integer not null,
      expire_at integer not null, odd integer, detail text
    ) without rowid`,
    `create unique index attempts_job on attempts (job, number)`,
    `create index attempts_odd on attempts (expire_at) where odd = 1`,
    `create table marks (name text primary key, value text not null) without rowid`,
    `create table skips (
      job integer not null, first_at integer not null, last_at integer not null,
      count integer not null, reason text not null, expire_at integer not null,
      primary key (job, first_at)
    ) without rowid`,
    `create index skips_expiring on skips (expire_at)`,
    `create table tallies (
      line integer not null, kind integer not null, state integer not null, tenant text not null,
      n integer not null, pruned integer not null,
      primary key (line, kind, state, tenant)
    ) without rowid`,
    `create index tallies_tenant on tallies (tenant)`,
  ],
  down: [
    'drop table tallies',
    'drop table skips',
    'drop table marks',
    'drop table attempts',
    'drop table leases',
    'drop table specs',
    'drop table jobs',
    'drop table queues',
    'drop table lines',
    'drop table sequence',
  ],
}
