// H6: what a host may answer: large numbers, other charsets, other fields, odd cursors. S4: answers
// made to be slow to read.

import { expect, test } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { server } from './server.ts'
import { sourceWorld, type SourceWorld } from './world.ts'

/** A source whose host always answers this. */
async function answering(body: string | Buffer, type = 'application/json'): Promise<SourceWorld> {
  const site = await server({
    trouble: (_query, response) => {
      response.writeHead(200, { 'content-type': type }).end(body)
      return true
    },
  })
  const w = await sourceWorld({ port: site.port })
  await w.add({ offsetPagination: undefined })
  await w.node('n1')
  // Long answers are read over several turns of the event loop, of which virtual time knows nothing.
  await eventually('an attempt', async () => {
    await w.world.settle()
    return (await w.attempts()).length > 0 || null
  })
  return w
}

const errorOf = async (w: SourceWorld) => (await w.attempts())[0]!.error?.message

test('H6: numbers keep all their digits, so that records that differ stay apart', async () => {
  const numbers = '9007199254740993 9007199254740992 12345678901234567890 1e400 7 1.50'.split(' ')
  const records = numbers.map(n => `{"id":${n},"name":{"of":[${n}]}}`)
  const w = await answering(`{"data":[${records.join(',')}]}`)
  expect(new Set((await w.rows()).map(String))).toEqual(
    new Set([
      '9007199254740993,{"of":[9007199254740993]}',
      '9007199254740992,{"of":[9007199254740992]}',
      '12345678901234567890,{"of":[12345678901234567890]}',
      '1e400,{"of":[1e400]}',
      '7,{"of":[7]}',
      '1.5,{"of":[1.5]}',
    ]),
  )
})

test.each([
  ['[{"uuid":"a","title":"b"}]', 'the first one has uuid, title'],
  ['[{}]', 'the first one is empty'],
  ['[1,2]', 'the first one is no object but a number'],
  ['[12345678901234567890]', 'the first one is no object but a number'],
  ['[null]', 'the first one is no object but null'],
  ['[[1]]', 'the first one is a list'],
])(
  'H6: records %s without any mapped field end the run and say what was found',
  async (data, found) => {
    const w = await answering(`{"data":${data}}`)
    expect(await errorOf(w)).toBe(
      `page 1: no record has any of the mapped fields (id, name); ${found}`,
    )
    expect((await w.job()).totals.succeeded).toBe(0)
  },
)

test('H6: a record with some of the fields, or with null in them, and an empty page are fine', async () => {
  const w = await answering('{"data":[{"id":1},{"name":null,"x":2},{"x":3}]}')
  expect(await w.attempts()).toMatchObject([{ outcome: 'succeeded', result: { records: 3 } }])
  const empty = await answering('{"data":[]}')
  expect(await empty.attempts()).toMatchObject([{ outcome: 'succeeded', result: { records: 0 } }])
})

test('H6: charsets and byte order marks are read, an unknown charset is a clear failure', async () => {
  const body = '{"data":[{"id":1,"name":"café"}]}'
  const latin = await answering(Buffer.from(body, 'latin1'), 'application/json; charset=iso-8859-1')
  expect(await latin.rows()).toEqual([['1', 'café']])
  const marked = await answering(`\uFEFF${body}`)
  expect(await marked.rows()).toEqual([['1', 'café']])
  const unknown = await answering(body, 'application/json; charset=klingon')
  expect(await errorOf(unknown)).toMatch(/answered in a charset that is not known here: klingon$/)
})

test('H6: the number 0 at nextCursorPath ends the run, other numbers and the text "0" do not', async () => {
  const nexts = ['9007199254740993', '"0"', '3.5', '0']
  const site = await server({
    trouble: (_query, response, nth) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"data":[{"id":${nth},"name":"n"}],"next":${nexts[nth - 1]}}`)
      return true
    },
  })
  const w = await sourceWorld({ port: site.port })
  const cursorPagination = { cursorParam: 'after', nextCursorPath: 'next' }
  await w.add({ offsetPagination: undefined, cursorPagination })
  await w.node('n1')
  const after = ['', '?after=9007199254740993', '?after=0', '?after=3.5']
  expect(site.paths()).toEqual(after.map(query => `/items${query}`))
  expect(await w.attempts()).toMatchObject([{ outcome: 'succeeded', result: { records: 4 } }])
})

test.each([
  ['[', 9_000_000, 'gave an answer that is nested deeper than 512'],
  ['{"a":', 1_900_000, 'gave an answer that is nested deeper than 512'],
  ['[{},{},{},', 1_000_000, 'nested deeper than 512'],
])('S4: an answer of %j many times is refused, naming the limit', async (part, count, text) => {
  const w = await answering(part.repeat(count))
  expect(await errorOf(w)).toContain(text)
})

test('S4: an answer with too many lists and objects is refused', async () => {
  const many = await answering(`{"data":[${'{},'.repeat(600_000)}{}]}`)
  expect(await errorOf(many)).toContain(
    'gave an answer that has more than 500000 lists and objects',
  )
})
