// Who asks a desk is settled before it is opened: nothing is signed, and nobody signs in. Sessions
// and tokens of the services over the same store can be ended here.

import type { Auth } from '../../auth/authenticator.ts'
import type { Principal } from '../../auth/principal.ts'
import { Revocations } from '../../auth/revocations.ts'
import { Sessions, type AuthRecords } from '../../auth/sessions.ts'

export function openTo(principal: Principal, records: AuthRecords): Auth {
  const sessions = new Sessions(records)
  const revocations = new Revocations(records)
  return {
    principalOf: async () => principal,
    signIn: async () => null,
    endSession: (id, also) => sessions.end(id, also),
    sessions: page => sessions.list(page),
    revoke: (tokenId, until, also) => revocations.revoke(tokenId, until, also),
  }
}
