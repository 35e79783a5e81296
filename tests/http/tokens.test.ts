// Bad tokens: every one of them is refused with the same words (J1–J6).

import { createHmac, generateKeyPairSync } from 'node:crypto'
import { createLocalJWKSet, exportJWK, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { LIFETIME_MAX_MS } from '../../src/service/auth/authenticator.ts'
import { verifier } from '../../src/service/auth/tokens.ts'
import { SECRET, startService } from './service.ts'

const NOW = Date.parse('2026-01-05T12:00:00Z')
const now = NOW / 1_000
const claims = { sub: 'ana', tenant: 'acme', role: 'admin', exp: now + 3_600 }
const header = { alg: 'HS256', typ: 'JWT' }

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

function sign(head: object, body: unknown, secret: string | Buffer = SECRET, hash = 'sha256') {
  const input = `${encode(head)}.${encode(body)}`
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

const good = sign(header, claims)
const [h, p, s] = good.split('.') as [string, string, string]
const without = (field: keyof typeof claims) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => name !== field))
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string

const algorithms = ['none', 'None', 'NONE', 'nOnE', '', 'HS384', 'HS512', 'RS256', 'ES256', 'PS256']
const oddRoles = ['', 'root', 'Admin', 'ADMIN', 'owner', 'superuser', null, 1, true, ['admin'], {}]
const oddTenants = ['', '../x', 'a/b', 'a b', '**', '*x', 'a\nb', 'é', 'x'.repeat(65), null, 0, {}]
const oddSubs = ['', null, 7, ['ana'], { a: 1 }, 'a\nb', 'x'.repeat(201)]
const oddExps = [
  now - 61,
  0,
  -1,
  NOW + 3_600_000,
  1e20,
  now + 367 * 86_400 + 61,
  String(now + 60),
  null,
  true,
  now + 0.5,
  [now + 60],
]
const oddTimes = [now + 3_600, NOW, 'soon', [], {}]

const vectors: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    algorithms.flatMap(alg => [
      [`alg ${alg} with our signature`, sign({ ...header, alg }, claims)],
      [`alg ${alg} without a signature`, `${encode({ ...header, alg })}.${encode(claims)}.`],
    ]),
  ),
  ...Object.fromEntries(
    (['sub', 'tenant', 'role', 'exp'] as const).map(field => [
      `without ${field}`,
      sign(header, without(field)),
    ]),
  ),
  ...Object.fromEntries(
    oddRoles.map(role => [`role ${JSON.stringify(role)}`, sign(header, { ...claims, role })]),
  ),
  ...Object.fromEntries(
    oddTenants.map(tenant => [
      `tenant ${JSON.stringify(tenant)}`,
      sign(header, { ...claims, tenant }),
    ]),
  ),
  ...Object.fromEntries(
    oddSubs.map(sub => [`sub ${JSON.stringify(sub)}`, sign(header, { ...claims, sub })]),
  ),
  ...Object.fromEntries(
    oddExps.map(exp => [`exp ${JSON.stringify(exp)}`, sign(header, { ...claims, exp })]),
  ),
  ...Object.fromEntries(
    oddTimes.flatMap(moment => [
      [`nbf ${JSON.stringify(moment)}`, sign(header, { ...claims, nbf: moment })],
      [`iat ${JSON.stringify(moment)}`, sign(header, { ...claims, iat: moment })],
    ]),
  ),
  'every tenant as viewer': sign(header, { ...claims, tenant: '*', role: 'viewer' }),
  'every tenant as operator': sign(header, { ...claims, tenant: '*', role: 'operator' }),
  'another secret': sign(header, claims, 'another-secret-that-is-long-enough-to-use'),
  'an empty secret': sign(header, claims, ''),
  'the secret with a newline': sign(header, claims, `${SECRET}\n`),
  'sha384 called HS256': sign(header, claims, SECRET, 'sha384'),
  'a public key as secret': sign(header, claims, pem),
  'a public key as secret, called RS256': sign({ ...header, alg: 'RS256' }, claims, pem),
  'a public key with a leading newline': sign(header, claims, `\n${pem}`),
  'unknown crit': sign({ ...header, crit: ['exp'] }, claims),
  'crit with a made-up name': sign({ ...header, crit: ['x-pay'], 'x-pay': 1 }, claims),
  'empty crit': sign({ ...header, crit: [] }, claims),
  'unencoded payload': sign({ ...header, b64: false, crit: ['b64'] }, claims),
  'wrong typ': sign({ ...header, typ: 'JWE' }, claims),
  'a key in the header': sign({ ...header, alg: 'RS256', jwk: { kty: 'oct', k: 'AA' } }, claims),
  'a key address in the header': sign({ alg: 'RS256', jku: 'https://evil.example' }, claims, 'x'),
  'a certificate in the header': sign({ alg: 'RS256', x5c: ['AA'] }, claims, 'x'),
  'kid of a file, no signature': `${encode({ ...header, kid: '../../dev/null' })}.${p}.`,
  'kid of a file, empty secret': sign({ ...header, kid: '/dev/null' }, claims, ''),
  'kid with SQL, another secret': sign({ ...header, kid: "' OR 1=1--" }, claims, 'x'),
  'a huge kid, another secret': sign({ ...header, kid: 'k'.repeat(4_000) }, claims, 'x'),
  'no signature': `${h}.${p}.`,
  'two parts': `${h}.${p}`,
  'one part': h,
  'four parts': `${good}.${s}`,
  'five parts': `${good}.${s}.${s}`,
  'empty parts': '..',
  'only dots': '...',
  'a cut signature': good.slice(0, -2),
  'a longer signature': `${good}AAAA`,
  'a changed signature': `${h}.${p}.${s.startsWith('A') ? 'B' : 'A'}${s.slice(1)}`,
  'signature of zeros': `${h}.${p}.${'A'.repeat(s.length)}`,
  'changed claims': `${h}.${encode({ ...claims, tenant: 'globex' })}.${s}`,
  'changed header': `${encode({ ...header, kid: 'x' })}.${p}.${s}`,
  'parts in another order': `${p}.${h}.${s}`,
  'claims that are a list': sign(header, [claims]),
  'claims that are a text': sign(header, 'hello'),
  'claims that are null': sign(header, null),
  'header that is a list': `${encode([header])}.${p}.${s}`,
  'header that is not JSON': `${encode('{')}.${p}.${s}`,
  'plain base64': `${h}.${p}=.${s}`,
  'a token with a space': `${good} x`,
  'an encrypted token': `${encode({ alg: 'dir', enc: 'A256GCM' })}..AAAA.AAAA.AAAA`,
  'not a token': 'hunter2',
  'the word null': 'null',
  'a very long token': 'a'.repeat(7_000),
}

describe('bad tokens', () => {
  it('are at least a hundred', () => {
    expect(Object.keys(vectors).length).toBeGreaterThanOrEqual(100)
  })

  it('J1 J2 J3 J4 J6 are all refused with 401 and the same words, and the good one is not', async () => {
    const service = await startService({ works: false, http: { authFailuresPerMinute: 10_000 } })
    const ask = (token: string) =>
      service.caller().get('/api/v1/jobs', { authorization: `Bearer ${token}` })
    expect((await ask(good)).status).toBe(200)
    const accepted: string[] = []
    const bodies = new Set<string>()
    for (const [name, token] of Object.entries(vectors)) {
      const { status, body, headers } = await ask(token)
      if (status !== 401 || headers['www-authenticate'] === undefined) accepted.push(name)
      const { request_id: _, ...same } = body
      bodies.add(JSON.stringify(same))
    }
    expect(accepted).toEqual([])
    expect(bodies.size).toBe(1)
  })

  it.each([
    ['no header', {}],
    ['basic', { authorization: `Basic ${encode('ana:secret')}` }],
    ['no scheme', { authorization: good }],
    ['two tokens', { authorization: `Bearer ${good}, Bearer ${good}` }],
    ['another header', { 'x-access-token': good }],
    ['a cookie of another name', { cookie: `token=${good}` }],
    ['a token for a session', { cookie: `carillon_session=${good}` }],
    ['two session cookies', { cookie: `carillon_session=${good}; carillon_session=${good}` }],
  ])('J6 %s is 401', async (_name, headers) => {
    const service = await startService({ works: false })
    expect((await service.caller().get('/api/v1/jobs', headers)).status).toBe(401)
  })

  it('J6 a token in the address is not read, and a header over 8 KiB is 431', async () => {
    const service = await startService({ works: false })
    const { status } = await service.caller().get(`/api/v1/jobs?access_token=${good}`)
    expect(status).toBe(401)
    const long = await service
      .caller()
      .get('/api/v1/jobs', { authorization: `Bearer ${'a'.repeat(9_000)}` })
    expect(long.status).toBe(431)
  })

  it('J3 checks issuer and audience exactly when they are configured', async () => {
    const auth = { issuer: 'https://id.example', audience: 'carillon' }
    const service = await startService({ works: false, auth })
    const ask = async (more: object) => {
      const token = sign(header, { ...claims, ...more })
      const { status } = await service
        .caller()
        .get('/api/v1/jobs', { authorization: `Bearer ${token}` })
      return status
    }
    const iss = 'https://id.example'
    expect(await ask({ iss, aud: 'carillon' })).toBe(200)
    expect(await ask({ iss, aud: ['other', 'carillon'] })).toBe(200)
    for (const bad of [
      {},
      { iss },
      { aud: 'carillon' },
      { iss, aud: 'carillon2' },
      { iss, aud: ['other'] },
      { iss: `${iss}/`, aud: 'carillon' },
      { iss: `${iss}.evil.example`, aud: 'carillon' },
      { iss: [iss], aud: 'carillon' },
    ]) {
      expect(await ask(bad)).toBe(401)
    }
  })
})

describe('keys of an identity provider', () => {
  it('J1 J5 accept what their key signed, never what a shared secret did', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const jwk = { ...(await exportJWK(rsa.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
    const rules = {
      now: () => NOW,
      issuer: null,
      audience: null,
      lifetimeMaxMs: LIFETIME_MAX_MS,
    }
    const verify = verifier({ kind: 'keys', keys: createLocalJWKSet({ keys: [jwk] }) }, rules)
    const signed = (key: typeof rsa.privateKey, kid: string) =>
      new SignJWT({ tenant: 'acme', role: 'viewer' })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setSubject('ana')
        .setExpirationTime(now + 60)
        .sign(key)
    expect(await verify(await signed(rsa.privateKey, 'one'))).toMatchObject({ sub: 'ana' })
    expect(await verify(await signed(rsa.privateKey, 'two'))).toBeNull()
    expect(await verify(await signed(other.privateKey, 'one'))).toBeNull()
    expect(await verify(sign({ alg: 'HS256', kid: 'one' }, claims, pem))).toBeNull()
    expect(await verify(good)).toBeNull()
  })
})
