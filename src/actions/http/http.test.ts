// Signatures, answers and settings of the http action, by tables.

import { describe, expect, it } from 'vitest'
import { AllowList } from '../guard/allow.ts'
import { RETRY_AFTER_MAX, retryAfterMs, verdictOf } from './answer.ts'
import { Masking } from '../masking.ts'
import { reveal } from './secrets.ts'
import { checkHttp, httpSettings, shownHttp } from './settings.ts'
import { secretKey, signature, webhookId } from './sign.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

describe('a signature follows Standard Webhooks (sec-W1, sec-W2)', () => {
  const signed = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  }

  it('matches the published example', () => {
    const text = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    expect(signature(signed, [SECRET])).toBe(text)
  })

  it('has one signature per secret while receivers change over', () => {
    const both = signature(signed, [OTHER, SECRET]).split(' ')
    expect(both).toEqual([signature(signed, [OTHER]), signature(signed, [SECRET])])
  })

  it.each(['', 'secret', 'whsec_', 'whsec_short', `whsec_${'A'.repeat(100)}`, 'whsec_not base64!'])(
    'the secret %j is none',
    secret => expect(secretKey(secret)).toBeNull(),
  )

  it('the id is the same for every attempt of a run and holds no dot', () => {
    expect(webhookId('job.1')).toBe(webhookId('job.1'))
    expect(webhookId('job.1')).not.toBe(webhookId('job.2'))
    expect(webhookId('a.b.c.1')).toMatch(/^run_[\w-]{32}$/)
  })
})

describe('an answer is a verdict (sec-W4)', () => {
  it.each([
    [200, 'done'],
    [204, 'done'],
    [299, 'done'],
    [301, 'final'],
    [304, 'final'],
    [400, 'final'],
    [401, 'final'],
    [404, 'final'],
    [408, 'again'],
    [410, 'gone'],
    [422, 'final'],
    [425, 'again'],
    [429, 'again'],
    [500, 'again'],
    [501, 'again'],
    [503, 'again'],
    [599, 'again'],
  ])('%d means %s', (status, kind) => {
    expect(verdictOf(status, undefined, NOW).kind).toBe(kind)
  })

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 12:01:30 GMT', 90_000],
    ['Sunday, 01-Mar-26 12:00:10 GMT', 10_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['9999999999', RETRY_AFTER_MAX],
    ['99999999999', null],
    ['-5', null],
    ['soon', null],
    ['2026', 2_026_000],
    ['1e3', null],
    ['2026-03-01', null],
    ['', null],
  ])('Retry-After %j is %j ms', (text, ms) => {
    expect(retryAfterMs(text, NOW)).toBe(ms)
  })
})

describe('settings are checked as a whole', () => {
  const settings = (given: object) => httpSettings.parse({ kind: 'http', ...given })
  const fields = (given: object) =>
    checkHttp(settings(given), 'action', AllowList.none()).map(({ field }) => field)

  it('names every field that is wrong', () => {
    const given = {
      url: 'http://10.0.0.1/',
      method: 'GET',
      body: 'x',
      headers: { Host: 'a', 'X-A': 'a\r\nHost: b', 'bad name': 'x', 'webhook-id': '1' },
      secrets: ['nope', SECRET],
    }
    expect(fields(given)).toEqual([
      'action.url',
      'action.headers.Host',
      'action.headers.X-A',
      'action.headers.bad name',
      'action.headers.webhook-id',
      'action.secrets.0',
      'action.body',
    ])
  })

  it('says whether the name of a header is wrong or its value', () => {
    const headers = { Host: 'a', 'X-A': 'a\r\nHost: b', 'bad name': 'x\r\ny' }
    const given = settings({ url: 'https://example.com/', headers })
    const found = checkHttp(given, 'action', AllowList.none())
    expect(found.map(({ isName }) => isName === true)).toEqual([true, false, true])
  })

  it('never repeats a secret or a header in its problems', () => {
    const given = {
      url: 'https://example.com/',
      secrets: ['canary'],
      headers: { 'X-A': 'canary\n' },
    }
    const problems = checkHttp(settings(given), 'action', AllowList.none())
    expect(problems).toHaveLength(2)
    expect(JSON.stringify(problems)).not.toContain('canary')
  })

  it('shows plain headers and hides the rest', () => {
    const given = settings({
      url: 'https://example.com/',
      headers: { Authorization: 'Bearer canary', 'X-Anything': 'canary', Accept: 'text/plain' },
      secrets: [SECRET],
    })
    expect(shownHttp(given, { mayEdit: true })).toMatchObject({
      headers: { Authorization: '***', 'X-Anything': '***', Accept: 'text/plain' },
      secrets: ['***'],
    })
  })

  it('S2: shows queries and bodies only to those who may edit', () => {
    const url = 'https://example.com/hook?api_key=canary'
    const given = settings({ url, body: { key: 'canary' } })
    expect(shownHttp(given, { mayEdit: true })).toMatchObject({ url, body: { key: 'canary' } })
    const shown = shownHttp(given, { mayEdit: false })
    expect(shown).toMatchObject({ url: 'https://example.com/hook?***', body: '***' })
    expect(shownHttp(settings({ url: 'https://example.com/' }), { mayEdit: false })).toEqual(
      settings({ url: 'https://example.com/' }),
    )
  })

  it('takes secrets out of what a receiver echoes', () => {
    const given = settings({
      url: 'https://example.com/',
      headers: { Authorization: 'Bearer canary-token' },
      secrets: [SECRET],
    })
    const echo = `got Bearer canary-token, canary-token and ${SECRET}`
    const { hidden } = reveal(given, 'acme', () => null)
    expect(new Masking(hidden).masked(echo)).toBe('got ***, *** and ***')
  })

  it('S2: hides what is named like a key in queries, parameters and bodies, and cookies', () => {
    const given = settings({
      url: 'https://example.com/?api_key=ofquery&page=plain',
      headers: { Cookie: 'id=ofcookie; lang=en', 'X-On': 'true', 'X-Pin': '4711' },
      params: [
        { name: 'token', value: 'ofparam' },
        { name: 'size', value: 'plain' },
      ],
      body: { list: [{ client_secret: 'ofbody', name: 'plain' }], pin_token: 123_456 },
    })
    const { hidden } = reveal(given, 'acme', () => null)
    const masking = new Masking(hidden)
    const keys = ['ofquery', 'ofcookie', 'ofparam', 'ofbody', '4711', '123456']
    expect(masking.masked(keys.join(' '))).toBe(keys.map(() => '***').join(' '))
    expect(masking.masked('plain true en null')).toBe('plain true en null')
  })

  it('S2: references become what is sent; what is sent is hidden', () => {
    const held: Record<string, string> = { 'acme/KEY': 'k"ey', 'acme/SIGN': SECRET }
    const given = settings({
      url: 'https://example.com/?a=1#top',
      headers: { 'X-Key': { secret: 'KEY', prefix: 'Bearer ' }, Accept: { secret: 'KEY' } },
      params: [
        { name: 'k', value: { secret: 'KEY' } },
        { name: 'n', value: 5 },
      ],
      body: { auth: { secret: 'KEY' }, list: [{ secret: 'KEY', prefix: 'x' }], secret: 'plain' },
      secrets: [{ secret: 'SIGN' }],
    })
    const sent = reveal(given, 'acme', (tenant, name) => held[`${tenant}/${name}`] ?? null)
    expect(sent).toMatchObject({
      url: 'https://example.com/?a=1&k=k%22ey&n=5',
      headers: { 'X-Key': 'Bearer k"ey', Accept: 'k"ey' },
      body: { auth: 'k"ey', list: ['xk"ey'], secret: 'plain' },
      secrets: [SECRET],
    })
    expect(new Set(sent.hidden)).toEqual(
      new Set(['k"ey', 'Bearer k"ey', 'xk"ey', 'plain', SECRET, SECRET.slice(6)]),
    )
    expect(() => reveal(given, 'globex', () => null)).toThrow('this node has no secret KEY')
    expect(() => reveal(given, 'acme', () => 'abc')).toThrow('at least 4 characters')
    expect(() => reveal(given, 'acme', () => 'a\r\nb-canary')).toThrow(
      /^headers.X-Key must be on one line, in Latin characters$/,
    )
  })
})
