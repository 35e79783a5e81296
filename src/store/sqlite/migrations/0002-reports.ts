// What handlers report while they run, and the small records beside the jobs.

import type { Migration } from './migration.ts'

export const reports: Migration = {
  version: 2,
  up: [
    `create table progress (
      job integer primary key, attempt text not null, fraction real, note text, checkpoint text,
      at integer not null
    )`,
    `create table logs (
      attempt text not null, n integer not null, at integer not null, level text not null,
      message text not null, fields text,
      primary key (attempt, n)
    ) without rowid`,
    `create table logged (
      job integer not null, attempt text not null, primary key (job, attempt)
    ) without rowid`,
    `create table records (
      kind text not null, key text not null, value text not null, version integer not null,
      expire_at integer,
      primary key (kind, key)
    ) without rowid`,
    `create index records_expiring on records (expire_at) where expire_at is not null`,
  ],
  down: ['drop table records', 'drop table logged', 'drop table logs', 'drop table progress'],
}
