// Says once that requests come through a proxy nobody declared; what its header says is not believed.

import type { App, AppParts } from '../app/parts.ts'

export function noticeForwarding(app: App, { log }: Pick<AppParts, 'log'>): void {
  if (log === null) return
  let isTold = false
  app.addHook('onRequest', async ({ headers, ip, raw }) => {
    if (isTold || headers['x-forwarded-for'] === undefined) return
    // The address of a trusted proxy is never that of the caller.
    if (ip !== raw.socket.remoteAddress) return
    isTold = true
    const message =
      'X-Forwarded-For comes from a peer that is not declared as a proxy, and is not believed: all ' +
      'callers behind it have one address in limits and audit; if it is your proxy, set --trust-proxy'
    log.warn({ peer: ip }, message)
  })
}
