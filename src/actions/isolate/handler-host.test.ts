// What leaves an isolated handler is bounded: the node is not made to read more than it may keep.

import { expect, test } from 'vitest'
import { limits } from '../../core/limits.ts'
import { HandlerHost } from './handler-host.ts'
import type { ToNode } from './messages.ts'

async function said(code: string): Promise<ToNode[]> {
  const messages: ToNode[] = []
  await new Promise<void>(resolve => {
    const host = new HandlerHost({
      send: (message, sent) => {
        messages.push(message)
        sent?.()
      },
      usage: () => ({ cpuMs: null, peakMb: null }),
      armed: Promise.resolve(),
      leave: resolve,
    })
    const module = `data:text/javascript,export default async context => { ${encodeURIComponent(code)} }`
    const place = { module, path: ['default'], takes: 'context' } as const
    host.receive({ kind: 'start', ...place, payload: null, context: { job: {} }, upcoming: null })
  })
  return messages
}

test.each([
  ["return 'x'.repeat(1_000_000)", { kind: 'done', result: null }],
  ['return Array(100_000).fill({ a: 1 })', { kind: 'done', result: null }],
  ["throw new Error('x'.repeat(1_000_000))", { kind: 'threw' }],
  ["throw 'x'.repeat(1_000_000)", { kind: 'threw' }],
  ["context.progress(0.5, 'x'.repeat(1_000_000))", { kind: 'done' }],
  ["context.log.info('a', { b: 'x'.repeat(1_000_000) })", { kind: 'done' }],
  ["await context.heartbeat('x'.repeat(1_000_000))", { kind: 'threw' }],
])('H4 %s sends little', async (code, last) => {
  const messages = await said(code)
  expect(messages.at(-1)).toMatchObject(last)
  for (const message of messages) {
    expect(JSON.stringify(message).length).toBeLessThan(limits.resultBytes)
  }
})

test('H4 a result that is left out says why', async () => {
  const [done] = await said("return 'x'.repeat(1_000_000)")
  expect(done).toMatchObject({ omitted: 'it has 1000002 bytes as JSON, the limit is 65536' })
})
