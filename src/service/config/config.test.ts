// The configuration: which source wins, and what is refused.

import { describe, expect, it } from 'vitest'
import { SchedulerError, type Problem } from '../../core/errors.ts'
import { resolveConfig, type Sources } from './config.ts'
import { flagOf, optionNames, options } from './options.ts'

const none: Sources = { flags: {}, env: {}, file: null }
const GOOD = 'N3v3r-Shared-With-Anyone-Else-At-All-42'

function problemsOf(sources: Partial<Sources>): readonly Problem[] {
  try {
    resolveConfig({ ...none, ...sources })
  } catch (error) {
    if (error instanceof SchedulerError) return error.problems
    throw error
  }
  return []
}

describe('the configuration', () => {
  it('has defaults that need nothing', () => {
    expect(resolveConfig(none)).toMatchObject({
      store: 'sqlite:.carillon/carillon.db',
      host: '127.0.0.1',
      port: 8060,
      data: '.carillon',
      worker: true,
      slots: 100,
      queues: null,
      jwtSecret: null,
      allowCommands: false,
      dataDb: '.carillon/pages.db',
      drainMs: 30_000,
      logLevel: 'info',
    })
  })

  it('takes flags before the environment before the file before defaults', () => {
    const file = { path: 'carillon.config.mjs', values: { port: 1, slots: 1, host: '::1' } }
    const env = { CARILLON_PORT: '2', CARILLON_SLOTS: '2' }
    const config = resolveConfig({ flags: { port: '3' }, env, file })
    expect(config).toMatchObject({ port: 3, slots: 2, host: '::1', drainMs: 30_000 })
  })

  it('keeps what is in the data folder together', () => {
    const config = resolveConfig({ ...none, env: { CARILLON_DATA: '/srv/jobs' } })
    expect(config).toMatchObject({
      store: 'sqlite:/srv/jobs/carillon.db',
      dataDb: '/srv/jobs/pages.db',
    })
  })

  it.each([
    [true, 1],
    ['yes', 1],
    ['1', 1],
    ['2', 2],
    [2, 2],
    ['no', false],
    ['0', false],
    ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    [['10.1.2.3'], ['10.1.2.3']],
  ])('S5 takes %j for trusted proxies', (given, value) => {
    const config = resolveConfig({ ...none, flags: { trustProxy: given } })
    expect(config.trustProxy).toEqual(value)
  })

  it.each(['11', '-1', 'proxy.example', '0.0.0.0/0', '10.0.0.0/33', '', ','])(
    'S5 refuses %j for trusted proxies',
    given => {
      const file = { path: 'c.mjs', values: { trustProxy: given } }
      expect(problemsOf({ file })).toMatchObject([{ field: 'trustProxy in c.mjs', value: given }])
    },
  )

  it.each([
    [true, []],
    ['true', []],
    ['*', []],
    ['no', false],
    ['acme, globex', ['acme', 'globex']],
    [['acme'], ['acme']],
  ])('S6 takes %j for whose commands run', (given, tenants) => {
    const config = resolveConfig({ ...none, flags: { allowCommands: given } })
    expect(config).toMatchObject({
      allowCommands: tenants,
      abortGraceMs: tenants === false ? 1_000 : 6_000,
    })
  })

  it.each(['a/b', ',', 7])('S6 refuses %j for whose commands run', given => {
    expect(problemsOf({ flags: { allowCommands: given } })).toMatchObject([
      { field: '--allow-commands', value: given },
    ])
  })

  it('reads durations, lists, queues and yes or no', () => {
    const env = {
      CARILLON_DRAIN: '5m',
      CARILLON_CHECK_INTERVAL: '2500',
      CARILLON_ALLOW_HOSTS: 'intra.example, 10.0.0.0/8',
      CARILLON_QUEUES: 'mail,crawl:10',
      CARILLON_WORKER: 'no',
    }
    expect(resolveConfig({ ...none, env })).toMatchObject({
      drainMs: 300_000,
      checkIntervalMs: 2_500,
      allowHosts: ['intra.example', '10.0.0.0/8'],
      queues: { mail: {}, crawl: { slots: 10 } },
      worker: false,
    })
  })

  it('takes name servers, or the system', () => {
    const dnsOf = (text: string) => resolveConfig({ ...none, env: { CARILLON_DNS: text } }).dns
    const servers = ['10.0.0.2', '10.0.0.2:5353', 'fd00::2', '[fd00::2]:5353', '[fd00::2]']
    expect(dnsOf(servers.join(','))).toEqual(servers)
    expect(dnsOf('system')).toEqual(['system'])
    for (const text of ['dns.example.com', '10.0.0.2:0', '10.0.0.2:99999', 'system,10.0.0.2']) {
      expect(() => dnsOf(text)).toThrow(/CARILLON_DNS/)
    }
  })

  it('reports every problem at once, under the name the value came by', () => {
    const problems = problemsOf({
      flags: { port: '70000' },
      env: { CARILLON_SLOTS: 'many', CARILLON_DRAIN: 'soon', CARILLON_LOG_LEVEL: 'loud' },
      file: { path: 'c.json', values: { worker: 'perhaps', colour: 'red' } },
    })
    expect(problems.map(({ field }) => field).toSorted()).toEqual([
      '--port',
      'CARILLON_DRAIN',
      'CARILLON_LOG_LEVEL',
      'CARILLON_SLOTS',
      'colour in c.json',
      'worker in c.json',
    ])
  })

  it.each(['0.0.0.0', '::', '192.168.1.5', 'example.com'])(
    'U8 refuses to listen on %s without configured auth',
    host => {
      expect(problemsOf({ env: { CARILLON_HOST: host } })).toMatchObject([
        { field: 'CARILLON_HOST', value: host },
      ])
      expect(problemsOf({ env: { CARILLON_HOST: host, CARILLON_JWT_SECRET: GOOD } })).toEqual([])
    },
  )

  it.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1'])('listens on %s as it is', host => {
    expect(problemsOf({ env: { CARILLON_HOST: host } })).toEqual([])
  })

  it.each([
    'short',
    'secretsecretsecretsecretsecretsecret',
    'change_this_secret_in_production_please',
    'your-256-bit-secretyour-256-bit-secret',
    'a-string-secret-at-least-256-bits-long',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '00000000000000000000000000000000',
    'passwordpassword12345678901234567890',
  ])('J8 refuses the secret %s and does not repeat it', secret => {
    const problems = problemsOf({ env: { CARILLON_JWT_SECRET: secret } })
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.every(({ field }) => field === 'CARILLON_JWT_SECRET')).toBe(true)
    expect(JSON.stringify(problems)).not.toContain(secret)
  })

  it('needs an issuer and a safe address with the keys of others', () => {
    expect(problemsOf({ env: { CARILLON_JWKS_URL: 'http://id.example/keys' } })).toMatchObject([
      { field: 'CARILLON_JWKS_URL' },
      { field: 'CARILLON_JWT_ISSUER' },
    ])
    const env = {
      CARILLON_JWKS_URL: 'https://id.example/keys',
      CARILLON_JWT_ISSUER: 'https://id.example',
    }
    expect(problemsOf({ env })).toEqual([])
  })

  it('gives commands the time they need to end, and refuses less', () => {
    const allowed = { CARILLON_ALLOW_COMMANDS: 'true' }
    expect(resolveConfig(none).abortGraceMs).toBe(1_000)
    expect(resolveConfig({ ...none, env: allowed }).abortGraceMs).toBe(6_000)
    const longer = { ...allowed, CARILLON_ABORT_GRACE: '10s' }
    expect(resolveConfig({ ...none, env: longer }).abortGraceMs).toBe(10_000)
    expect(problemsOf({ env: { ...allowed, CARILLON_ABORT_GRACE: '2s' } })).toMatchObject([
      { field: 'CARILLON_ABORT_GRACE', value: 2_000 },
    ])
  })

  it('has one flag and one variable for each setting, and none for secrets', () => {
    const variables = optionNames.map(name => options[name].env)
    expect(new Set(variables).size).toBe(variables.length)
    const flags = optionNames.map(flagOf).filter(flag => flag !== null)
    expect(new Set(flags).size).toBe(flags.length)
    expect(flagOf('jwtSecret')).toBeNull()
  })
})
