// A name server on the loopback for one test: it answers from a table, and is silent about the rest.

import { createSocket } from 'node:dgram'
import { onTestFinished } from 'vitest'

/** Addresses of a name; `none` says that there is no such name, `failure` that the server cannot say. */
export type Answer = readonly string[] | 'none' | 'failure' | 'silence'

export interface NameServer {
  readonly address: string
  /** Names that were asked for, once for each type of address. */
  readonly asked: string[]
}

const TYPE_A = 1
const NO_SUCH_NAME = 3
const SERVER_FAILURE = 2

export async function startNameServer(answer: (name: string) => Answer): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = questionOf(query)
    asked.push(name)
    const found = answer(name)
    if (found !== 'silence') socket.send(reply(query.subarray(0, end), type, found), port, address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  onTestFinished(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** RFC 1035: the header and the question of the query, then one record for each address. */
function reply(question: Buffer, type: number, found: Exclude<Answer, 'silence'>): Buffer {
  const code = found === 'none' ? NO_SUCH_NAME : found === 'failure' ? SERVER_FAILURE : 0
  const addresses = typeof found === 'string' || type !== TYPE_A ? [] : found
  const header = Buffer.from(question)
  header.writeUInt16BE(0x8180 | code, 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt32BE(0, 8)
  const records = addresses.map(address =>
    Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([header, ...records])
}
