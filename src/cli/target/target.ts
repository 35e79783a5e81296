// What commands act on: a service elsewhere, or a store of this machine. Both answer alike, so no
// command knows which it is.

import type { Api } from './api.ts'

export interface Target {
  readonly kind: 'local' | 'remote'
  /** For people; never with a password. */
  readonly name: string
  readonly client: Api
  close(): Promise<void>
}
