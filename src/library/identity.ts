// Rows made by the library are known by (tenant, app, definition, key): calling twice is safe.

export interface RowIdentity {
  readonly tenant: string
  readonly app: string
  readonly definition: string
  readonly key: string
}

export function rowId({ tenant, app, definition, key }: RowIdentity): string {
  return [tenant, app, definition, key].map(encodeURIComponent).join(':')
}

/** A pushed task that is known by the key its caller gave. */
export function taskId(identity: RowIdentity): string {
  return `${rowId(identity)}!`
}
