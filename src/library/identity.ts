// Rows made by the library are known by (tenant, app, definition, key): calling twice is safe.

import { idOf } from '../jobs/identity.ts'

export interface RowIdentity {
  readonly tenant: string
  readonly app: string
  readonly definition: string
  readonly key: string
}

export function rowId({ tenant, app, definition, key }: RowIdentity): string {
  return idOf([tenant, app, definition, key])
}

/** A pushed task that is known by the key its caller gave. */
export function taskId({ tenant, app, definition, key }: RowIdentity): string {
  return idOf([tenant, app, definition, key], '!')
}
