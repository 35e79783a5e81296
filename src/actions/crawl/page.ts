// One page: asked for, told apart by its answer, and read.

import type { Outbound, OutboundAnswer } from '../guard/outbound.ts'
import type { Steps } from '../slices.ts'
import { decodePage, extractHtml, extractText, robotsWords, type Extract } from './extract.ts'

export const PAGE_BYTES_MAX = 2 * 1024 * 1024

export type Fetched =
  | {
      readonly kind: 'page'
      readonly url: string
      readonly body: Buffer
      readonly contentType: string
      readonly robots: string
    }
  | { readonly kind: 'moved'; readonly to: URL }
  /** Nothing with text in it: not read at all. */
  | { readonly kind: 'other'; readonly contentType: string }
  | { readonly kind: 'busy'; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: 'broken'; readonly status: number; readonly isGone: boolean }

const readable = /^(?:text\/html|application\/xhtml\+xml|text\/plain)\b/i

export async function requestPage(
  parts: { readonly outbound: Outbound; readonly userAgent: string; readonly tenant: string },
  url: string,
  signal: AbortSignal,
): Promise<Fetched> {
  const answer = await parts.outbound.request({
    url,
    headers: {
      'user-agent': parts.userAgent,
      accept: 'text/html, application/xhtml+xml, text/plain;q=0.9',
    },
    signal,
    tenant: parts.tenant,
    bodyBytes: PAGE_BYTES_MAX,
    wants: ({ status, headers }) => status < 300 && readable.test(headers['content-type'] ?? ''),
  })
  return fetchedOf(answer)
}

function fetchedOf({ status, headers, body, url }: OutboundAnswer): Fetched {
  const { location, 'content-type': contentType = '' } = headers
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, url)) {
    return { kind: 'moved', to: new URL(location, url) }
  }
  if (status === 429 || status === 503) {
    return { kind: 'busy', status, retryAfter: headers['retry-after'] }
  }
  if (status >= 300) {
    return { kind: 'broken', status, isGone: status === 404 || status === 410 }
  }
  if (!readable.test(contentType)) return { kind: 'other', contentType: contentType.slice(0, 100) }
  return { kind: 'page', url, body, contentType, robots: headers['x-robots-tag'] ?? '' }
}

export type ReadPage = Omit<Extract, 'links' | 'base'> & { readonly links: readonly URL[] }

/** Links resolved between two steps. */
const LINKS_PER_STEP = 100

export function* readPage(fetched: Fetched & { kind: 'page' }): Steps<ReadPage> {
  const { url, body, contentType, robots } = fetched
  const text = decodePage(body, contentType)
  const { base, links, ...extract } = /^text\/plain/i.test(contentType)
    ? extractText(text)
    : yield* extractHtml(text)
  const header = robotsWords(robots)
  const from = base !== null && URL.canParse(base, url) ? new URL(base, url) : new URL(url)
  return {
    ...extract,
    mayIndex: extract.mayIndex && header.mayIndex,
    mayFollow: extract.mayFollow && header.mayFollow,
    links: yield* resolved(links, from),
  }
}

function* resolved(links: readonly string[], from: URL): Steps<readonly URL[]> {
  const urls: URL[] = []
  for (const [i, link] of links.entries()) {
    if (i % LINKS_PER_STEP === 0) yield
    if (URL.canParse(link, from.href)) urls.push(new URL(link, from))
  }
  return urls
}
