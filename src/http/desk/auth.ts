// Who asks a desk is settled before it is opened: nothing is signed, and nobody signs in.

import type { Auth } from '../auth/authenticator.ts'
import type { Principal } from '../auth/principal.ts'

export function openTo(principal: Principal): Auth {
  return {
    code: { redeem: () => false },
    sessionMs: 0,
    principalOf: async () => principal,
    isToken: async () => false,
    session: async () => null,
  }
}
