// Cookies travel by themselves: a write that leans on one must come from our own pages.

import type { IncomingHttpHeaders } from 'node:http'

const safeMethods = ['GET', 'HEAD', 'OPTIONS']

export function isSafe(method: string): boolean {
  return safeMethods.includes(method)
}

/** Browsers say where a request comes from; one that says nothing is not believed. */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined || host === undefined) return false
  return URL.canParse(origin) && new URL(origin).host === host
}

const proxyHeader =
  /^(?:forwarded|x-forwarded(?:-.+)?|via|x-real-ip|cf-connecting-ip|true-client-ip|cdn-loop)$/

/** A proxy left its mark: then the peer's address and the Host say nothing about who asks. */
function isPassedOn(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(name => proxyHeader.test(name))
}

export function isLoopback(ip: string): boolean {
  return /^(?:127\.|::1$|::ffff:127\.)/.test(ip)
}

/**
 * Typed at this machine, or sent by our own pages: other sites cannot ask by way of a browser, nor
 * by a name of theirs that leads here.
 */
export function isOfThisMachine(headers: IncomingHttpHeaders): boolean {
  const isOwnName = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/.test(headers.host ?? '')
  if (isPassedOn(headers) || !isOwnName) return false
  const site = headers['sec-fetch-site']
  const isOfPage = headers.origin !== undefined || (site !== undefined && site !== 'none')
  return !isOfPage || isSameOrigin(headers)
}
