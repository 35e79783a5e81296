// The one place that knows the driver. Rows come as lists of texts, as the server writes them.

import { createRequire } from 'node:module'
import type * as Pg from 'pg'
import { SchedulerError } from '../../core/errors.ts'

export type Pool = Pg.Pool
export type Client = Pg.Client
export type PoolClient = Pg.PoolClient
export type ClientConfig = Pg.ClientConfig
export type PoolConfig = Pg.PoolConfig

type Driver = typeof Pg

/** Loaded when a store is made: only programs that use PostgreSQL need the package. */
export function loadDriver(): Driver {
  try {
    return createRequire(import.meta.url)('pg') as Driver
  } catch (error) {
    throw new SchedulerError(
      'SETTINGS_INVALID',
      'the PostgreSQL store needs the package pg: npm install pg',
      { cause: error },
    )
  }
}

const asIs = (value: string): string => value

/** Numbers stay texts until someone needs them: most of a row is only looked at in part. */
export const rawTypes = { getTypeParser: () => asIs } as NonNullable<ClientConfig['types']>
