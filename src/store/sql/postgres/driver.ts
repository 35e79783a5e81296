// The one place that knows the driver. Rows come as lists; numbers of every width are JavaScript numbers.

import { createRequire } from 'node:module'
import type * as Pg from 'pg'
import { SchedulerError } from '../../../core/errors.ts'

export type Pool = Pg.Pool
export type Client = Pg.Client
export type ClientConfig = Pg.ClientConfig

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

/** int8, int2, int4, float4, float8, numeric: what the store holds fits into a double. */
const numberTypes: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700])
const asNumber = (value: string): number => Number(value)
const asText = (value: string): string => value

export const columnTypes = {
  getTypeParser: (type: number) => (numberTypes.has(type) ? asNumber : asText),
}
