// What commands act on: a service elsewhere, or a store of this machine behind the same app. Both
// speak through the client, so no command knows which it is.

import type { Client } from '../../client/index.ts'

export interface Target {
  readonly kind: 'local' | 'remote'
  /** For people; never with a password. */
  readonly name: string
  readonly client: Client
  close(): Promise<void>
}
