// A real HTTP server on the loopback for one test, with a record of what it was asked.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Site {
  port: number
  origin: string
  readonly asked: Asked[]
  /** Connections made, also those over which nothing was asked. */
  connections: number
}

export type Answer = (request: Asked, response: ServerResponse, site: Site) => unknown

export async function site(answer: Answer): Promise<Site> {
  const asked: Asked[] = []
  const made: Site = { port: 0, origin: '', asked, connections: 0 }
  const server = createServer((request, response) => {
    void read(request).then(body => {
      const one = { method: request.method!, path: request.url!, headers: request.headers, body }
      asked.push(one)
      return answer(one, response, made)
    })
  })
  server.on('connection', () => made.connections++)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  made.port = (server.address() as AddressInfo).port
  made.origin = `http://127.0.0.1:${made.port}`
  return made
}

export interface Receiver extends Site {
  /** Requests that wait for their answer. */
  readonly open: ServerResponse[]
  /** The most requests that were open at once. */
  peak: number
}

/** Answers nothing: the test does. */
export async function slowReceiver(): Promise<Receiver> {
  const open: ServerResponse[] = []
  let live = 0
  const made = await site((_, response) => {
    receiver.peak = Math.max(receiver.peak, ++live)
    response.on('close', () => live--)
    open.push(response)
  })
  const receiver: Receiver = Object.assign(made, { open, peak: 0 })
  return receiver
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
