// The crawl action: a site from one URL, kept and indexed page by page.

import type { Problem } from '../../core/errors.ts'
import type { Action } from '../action.ts'
import { checkUrl } from '../guard/url.ts'
import type { CrawlParts } from './crawl.ts'
import { crawlSettings, type CrawlSettings } from './settings.ts'

/** Without a place for pages a node leaves crawls to others. */
export function crawlAction(
  parts: Omit<CrawlParts, 'pages'> & { readonly pages: CrawlParts['pages'] | null },
): Action<CrawlSettings> {
  const { pages, outbound } = parts
  return {
    kind: 'crawl',
    isAllowed: pages !== null,
    schema: crawlSettings,
    check: ({ url }, field): Problem[] => {
      const { rule } = checkUrl(url, outbound.allow)
      return rule === null ? [] : [{ field: `${field}.url`, value: url, rule }]
    },
    shown: settings => settings,
    perform: async (settings, { context }) => {
      if (pages === null) throw new Error('this node has no place for pages')
      // With its parser of pages, which most processes never need.
      const { Crawl } = await import('./crawl.ts')
      return new Crawl({ ...parts, pages }, settings, context).run()
    },
  }
}
