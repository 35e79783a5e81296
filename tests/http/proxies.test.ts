// Behind a proxy: whose word about the address of a caller counts (S5).

import { expect, it } from 'vitest'
import type { TrustedProxies } from '../../src/service/http/app/proxies.ts'
import { startService, type Service, type Wire } from './service.ts'

const bad = { authorization: 'Bearer x.y.z' }

async function refuseFrom(s: Service, forwarded: string, remoteAddress = '127.0.0.1') {
  const headers = { ...bad, 'x-forwarded-for': forwarded }
  const { statusCode } = await s.app.inject({ url: '/api/v1/jobs', headers, remoteAddress })
  return statusCode
}

async function addresses(s: Service): Promise<unknown[]> {
  const page = await s.engine.store.listRecords('audit:*', { limit: 200 }, s.now)
  return page.items.map(({ value }) => (value as unknown as Wire)['ip'])
}

const start = (trustedProxies: TrustedProxies) =>
  startService({ works: false, http: { trustedProxies, authFailuresPerMinute: 5 } })

it('S5 an invented beginning of X-Forwarded-For neither avoids the limit nor reaches the audit', async () => {
  const s = await start(1)
  const answers: number[] = []
  for (let i = 0; i < 8; i++) answers.push(await refuseFrom(s, `10.1.0.${i}, 203.0.113.9`))
  expect(answers).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  expect(new Set(await addresses(s))).toEqual(new Set(['203.0.113.9']))
  expect(await refuseFrom(s, '203.0.113.10')).toBe(401)
})

it.each<[string, TrustedProxies, string, string, string]>([
  ['nobody', false, '127.0.0.1', '198.51.100.1, 203.0.113.9', '127.0.0.1'],
  ['one hop', 1, '10.0.0.2', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['two hops', 2, '10.0.0.2', '6.6.6.6, 198.51.100.1, 203.0.113.9', '198.51.100.1'],
  ['a network', ['10.0.0.0/8'], '10.0.0.2', '6.6.6.6, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['a network, not the peer', ['10.0.0.0/8'], '192.0.2.1', '6.6.6.6', '192.0.2.1'],
  ['a mapped peer', ['10.0.0.0/8'], '::ffff:10.0.0.2', '203.0.113.9', '203.0.113.9'],
  ['IPv6', ['fd00::/8'], 'fd00::1', '6.6.6.6, 2001:db8::5', '2001:db8::5'],
])('S5 with %s trusted, the caller is the first that is not ours', async (...given) => {
  const [, proxies, peer, forwarded, expected] = given
  const s = await start(proxies)
  expect(await refuseFrom(s, forwarded, peer)).toBe(401)
  expect(await addresses(s)).toEqual([expected])
})

it('S5 protocol and prefix count only from a proxy that is trusted', async () => {
  const s = await start(['10.0.0.0/8'])
  const cookieFrom = async (remoteAddress: string) => {
    const { headers } = await s.app.inject({
      method: 'POST',
      url: '/api/v1/session',
      remoteAddress,
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        'x-forwarded-proto': 'https',
        'x-forwarded-prefix': '/ops',
      },
      payload: JSON.stringify({ token: await s.token() }),
    })
    return String(headers['set-cookie'])
  }
  expect(await cookieFrom('10.0.0.2')).toMatch(/^__Secure-carillon_session=.*Path=\/ops;.*Secure$/)
  expect(await cookieFrom('192.0.2.1')).toMatch(/^carillon_session=.*Path=\/;.*Max-Age=\d+$/)
})

it('S5 the log says once that a proxy is not declared, and its header is not believed', async () => {
  const told: object[] = []
  const none = () => {}
  const warn = (fields: object, message: string) => told.push({ ...fields, message })
  const log = { debug: none, info: none, error: none, warn }
  const s = await startService({ works: false, log, http: { trustedProxies: ['10.0.0.0/8'] } })
  await s.as().get('/api/v1/jobs')
  await refuseFrom(s, '203.0.113.9', '10.0.0.2')
  expect(told).toEqual([])
  for (let i = 0; i < 3; i++) await refuseFrom(s, '6.6.6.6', '192.0.2.1')
  expect(told).toEqual([
    { peer: '192.0.2.1', message: expect.stringContaining('set --trust-proxy') },
  ])
})
