// The settings of a crawl action.

import { z } from 'zod'
import { SECOND } from '../../core/time.ts'
import { URL_MAX } from '../guard/url.ts'

export const PAGES_MAX = 10_000
export const DEPTH_MAX = 20

export const crawlSettings = z.strictObject({
  kind: z.literal('crawl'),
  url: z.string().max(URL_MAX),
  /** A label the pages are found by. */
  source: z.string().min(1).max(200).optional(),
  /** Links from the start page are 1. */
  depth: z.number().int().min(0).max(DEPTH_MAX).default(3),
  /** Addresses asked for, whatever they answer. */
  pages: z.number().int().min(1).max(PAGES_MAX).default(100),
  /** `same` is the start's host, with or without www; `subdomains` also those below it. */
  hosts: z.enum(['same', 'subdomains']).default('same'),
  /** Between two requests to one host; a longer Crawl-delay of its robots.txt wins. */
  delay_ms: z
    .number()
    .int()
    .min(0)
    .max(60 * SECOND)
    .default(SECOND),
})

export type CrawlSettings = z.output<typeof crawlSettings>
