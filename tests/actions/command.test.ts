// The command action in a running node, with real processes.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findAccount, type CommandAccount } from '../../src/actions/command/account.ts'
import { commandAction, passedByDefault } from '../../src/actions/command/action.ts'
import type { Author } from '../../src/actions/action.ts'
import { Registry } from '../../src/actions/registry.ts'
import type { SpecInput } from '../../src/core/spec.ts'
import type { Json } from '../../src/core/json.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { eager, startNode } from './node.ts'
import { eventually } from '../support/servers/wait.ts'

const operator: Author = { tenant: 'acme', isOfEveryTenant: true }
const once = { ...eager, limit: 0 }

interface Given {
  readonly graceMs?: number
  readonly abortGraceMs?: number
  readonly account?: CommandAccount
  readonly tenants?: readonly string[]
}

async function commands(given: Given = {}) {
  const actions = new Registry().add(
    commandAction({
      clock: systemClock,
      tenants: given.tenants ?? [],
      account: given.account ?? null,
      env: { ...process.env, CARILLON_JWT_SECRET: 'canary' },
      passes: passedByDefault,
      shell: '/bin/sh',
      graceMs: given.graceMs ?? 5_000,
    }),
  )
  const node = await startNode(actions.handlers, { abortGraceMs: given.abortGraceMs ?? 10_000 })
  const run = async (
    settings: object,
    more: { payload?: Json; spec?: Partial<SpecInput>; author?: Author } = {},
  ) => {
    const { action, problems } = actions.check({ kind: 'command', ...settings })
    expect(problems).toEqual([])
    const stored = actions.specOf(action!, more.payload ?? null, more.author ?? operator)
    return node.create({ retry: once, ...more.spec, ...stored })
  }
  const lines = () => node.logged.map(({ message }) => message)
  return { node, run, lines }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('the command action', () => {
  it('runs a program with its arguments as they are, output in the log', async () => {
    const { node, run, lines } = await commands()
    await run({ argv: ['printf', '%s\n', '$HOME; echo x', 'two'] })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({
      outcome: 'succeeded',
      result: { exit_code: 0, signal: null, stdout: '$HOME; echo x\ntwo\n', is_cut: false },
    })
    expect(lines()).toEqual(['$HOME; echo x', 'two'])
  })

  it.runIf(process.platform === 'linux')(
    'measures CPU time and memory of the command and what it starts (H4)',
    async () => {
      const { node, run, lines } = await commands()
      // The shell itself only waits: what its subshell used, it tells by `times` at the end.
      const burn = 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'
      await run({ shell: `sh -c '${burn}'; times` })
      const [attempt] = await node.attempts(1)
      const told = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s/.exec(lines().at(-1)!)!.slice(1).map(Number)
      const toldMs = (told[0]! * 60 + told[1]! + told[2]! * 60 + told[3]!) * 1_000
      const measures = attempt!.measures as { cpu_time_ms: number; memory_peak_mb: number }
      expect(toldMs).toBeGreaterThan(50)
      expect(Math.abs(measures.cpu_time_ms - toldMs)).toBeLessThan(40)
      expect(measures.memory_peak_mb).toBeGreaterThan(0)
      expect(measures.memory_peak_mb).toBeLessThan(50)
    },
  )

  it.runIf(process.platform === 'linux')(
    'measures a command that its timeout ended (H4)',
    async () => {
      const { node, run } = await commands()
      await run({ shell: 'while :; do :; done' }, { spec: { timeoutMs: 600 } })
      const [attempt] = await node.attempts(1)
      expect(attempt!.outcome).toBe('timedOut')
      expect(attempt!.measures!['cpu_time_ms']).toBeGreaterThan(0)
    },
  )

  it('keeps the first and the last lines of its output (H5)', async () => {
    const { node, run } = await commands()
    await run({ shell: 'seq 1 20000; echo the reason >&2; exit 3' })
    const [attempt] = await node.attempts(1)
    expect(attempt!.error?.message).toContain('the reason')
    const { items } = await node.engine.store.log(attempt!.id, { limit: 1_000 })
    const messages = items.map(({ message }) => message)
    expect(messages).toHaveLength(1_000)
    expect(messages.slice(0, 500)).toEqual(Array.from({ length: 500 }, (_, i) => String(i + 1)))
    expect(messages[500]).toBe('19,002 lines left out: the first 500 and the last 499 are kept')
    const last = Array.from({ length: 498 }, (_, i) => String(19_503 + i))
    expect(messages.slice(501).toSorted()).toEqual([...last, 'the reason'].toSorted())
  })

  it('runs a shell line with its input, in its folder', async () => {
    const { node, run, lines } = await commands()
    await run({ shell: 'pwd; tr a-z A-Z; echo oops >&2', stdin: 'hello\n', cwd: '/' })
    await node.attempts(1)
    expect(lines().toSorted()).toEqual(['/', 'HELLO', 'oops'])
    expect(node.logged.find(({ message }) => message === 'oops')).toMatchObject({
      level: 'warn',
      fields: { stream: 'stderr' },
    })
  })

  it('passes on only what a command needs, and what it may know of its run', async () => {
    const { node, run, lines } = await commands()
    const job = await run({ shell: 'env; cat', env: { MINE: '1' } }, { payload: { a: 1 } })
    await node.attempts(1)
    const text = lines().join('\n')
    expect(text).not.toContain('canary')
    expect(text).toContain('MINE=1')
    expect(text).toContain(`CARILLON_RUN_ID=${job.id}.1`)
    expect(text).toContain('CARILLON_ATTEMPT=1')
    expect(text).toContain('{"a":1}')
  })

  it('S2 prints no variable that is named like a key', async () => {
    const { node, run, lines } = await commands()
    const env = { API_KEY: 'k3y"4711', DB_PASSWORD: 'swordfish', MODE: 'verbose' }
    const long = 'head -c 3000 /dev/zero | tr "\\0" x'
    await run({ shell: `env; printf %s "$DB_PASSWORD"; ${long}; echo "$API_KEY" >&2; exit 3`, env })
    const [failed] = await node.attempts(1)
    expect(failed!.error?.message).toBe('the command ended with code 3: ***')
    await run({ shell: 'echo "$MODE $API_KEY"', env })
    const [, ended] = await node.attempts(2)
    expect(ended!.result).toMatchObject({ stdout: 'verbose ***\n' })
    const text = lines().join('\n')
    expect(text).toContain('MODE=verbose')
    expect(text).toContain('DB_PASSWORD=***')
    for (const secret of ['k3y"4711', 'swordfish']) expect(text).not.toContain(secret)
  })

  it('S6 finds no secret of the service in its environment', async () => {
    const { node, run, lines } = await commands()
    await run({ shell: 'env' }, { author: operator })
    await node.attempts(1)
    const names = lines().map(line => line.split('=', 1)[0]!)
    const own = ['RUN_ID', 'ATTEMPT', 'FENCE', 'SCHEDULED_FOR'].map(name => `CARILLON_${name}`)
    expect(names.filter(name => name.startsWith('CARILLON_')).sort()).toEqual(own.sort())
    const known = [...passedByDefault, ...own, 'PWD', 'OLDPWD', 'SHLVL', '_']
    expect(names.filter(name => !known.includes(name))).toEqual([])
  })

  it('S6 of a tenant that may not is not run, whoever stored it', async () => {
    const { node, run, lines } = await commands({ tenants: ['globex'] })
    const author = { tenant: 'acme', isOfEveryTenant: false }
    await run({ shell: 'echo ran' }, { author, spec: { tenant: 'acme' } })
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('failed')
    expect(attempt!.error?.message).toContain('commands of the tenant acme are not allowed here')
    await run({ shell: 'echo globex' }, { author, spec: { tenant: 'globex' } })
    await node.attempts(2)
    expect(lines()).toEqual(['globex'])
  })

  it('S6 starts in the home folder it has, and says which folder is missing', async () => {
    const { node, run, lines } = await commands()
    await run({ shell: 'pwd', cwd: '~', env: { HOME: '/usr' } })
    await run({ shell: 'pwd', cwd: '~/lib', env: { HOME: '/usr' } })
    await node.attempts(2)
    expect(
      lines()
        .map(path => path.replace('/private', ''))
        .sort(),
    ).toEqual(['/usr', '/usr/lib'])
    await run({ shell: 'pwd', cwd: '/no/such' })
    const message = (await node.attempts(3))[2]!.error?.message
    expect(message).toBe('the command cannot be started: there is no folder /no/such')
  })

  it.runIf(process.getuid?.() === 0)('S6 runs under another account when told to', async () => {
    const passwd = readFileSync('/etc/passwd', 'utf8')
    const account = findAccount('nobody', { uid: 0, passwd })
    const { node, run, lines } = await commands({ account })
    await run({
      shell: 'id -u; id -G; echo $USER; cat /proc/$PPID/environ >/dev/null 2>&1 || echo no',
    })
    await node.attempts(1)
    const [uid, groups, user, secret] = lines()
    expect([uid, groups, user]).toEqual([`${account.uid}`, `${account.gid}`, 'nobody'])
    if (process.platform === 'linux') expect(secret).toBe('no')
  })

  it('a code other than 0 fails the attempt and says so', async () => {
    const { node, run } = await commands()
    await run({ shell: 'echo no such table >&2; exit 3' })
    const [attempt] = await node.attempts(1)
    expect(attempt!.error?.message).toBe('the command ended with code 3: no such table')
  })

  it('a program that is not there fails the attempt', async () => {
    const { node, run } = await commands()
    await run({ argv: ['no-such-program-here'] })
    const [attempt] = await node.attempts(1)
    expect(attempt!.error?.message).toBe('the command cannot be started: ENOENT')
  })

  it('a command that never stops printing is read, and cut in the log', async () => {
    const { node, run, lines } = await commands()
    await run({ shell: 'yes carillon | head -c 5000000' })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'succeeded', result: { is_cut: true } })
    expect(lines().length).toBeLessThanOrEqual(1_000)
    const { items } = await node.engine.store.log(attempt!.id, { limit: 1_000 })
    expect(items).toHaveLength(1_000)
    expect(items[500]!.message).toContain('lines left out')
  })

  it('cancel ends the command and everything it started', async () => {
    const { node, run, lines } = await commands()
    const { id } = await run({ shell: 'sleep 600 & echo $!; sleep 600 & echo $!; wait' })
    await eventually('both processes', () => lines().length === 2 || null)
    const pids = lines().map(Number)
    expect(pids.every(isAlive)).toBe(true)
    await node.engine.client.cancel(id)
    await eventually('the processes to end', () => !pids.some(isAlive) || null)
  })

  it('a timeout ends also a command that does not listen, after the grace', async () => {
    const { node, run, lines } = await commands({ graceMs: 100 })
    const shell = "trap 'echo asked' TERM; echo $$; while :; do sleep 0.05; done"
    await run({ shell }, { spec: { timeoutMs: 300 } })
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('timedOut')
    expect(lines()).toContain('asked')
    expect(isAlive(Number(lines()[0]))).toBe(false)
  })

  it('is not held up by what it left behind in the background', async () => {
    const { node, run, lines } = await commands()
    await run({ shell: 'sleep 600 & echo $!' })
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('succeeded')
    expect(attempt!.finishedAt - attempt!.startedAt).toBeLessThan(5_000)
    process.kill(Number(lines()[0]), 'SIGKILL')
  })
})
