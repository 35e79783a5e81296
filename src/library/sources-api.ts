// `scheduler.sources`: what is fetched into tables, and how often. The parts behind it are only
// loaded when it is used.

import { limits } from '../core/limits.ts'
import { specDefaults } from '../core/spec.ts'
import type { OpenSources } from '../sources/open.ts'
import type { SourceChanges, SourceInput } from '../sources/shape.ts'
import type { RateLimit, Source } from '../sources/source.ts'
import type { Page } from '../store/port.ts'
import type { TenantOption } from './workflows-api.ts'

export class SourcesApi {
  readonly #open: () => Promise<OpenSources>

  constructor(open: () => Promise<OpenSources>) {
    this.#open = open
  }

  /** Every problem is told at once; an active source is fetched as soon as it is there. */
  async add(input: SourceInput, options: TenantOption = {}): Promise<Source> {
    return (await this.#sources()).add(tenantOf(options), input)
  }

  /** Fields that are left out stay as they are; the next run heeds what changed. */
  async update(
    name: string,
    input: SourceChanges,
    options: TenantOption & { readonly revision?: number } = {},
  ): Promise<Source> {
    const guard = options.revision === undefined ? {} : { revision: options.revision }
    const edit = { merges: true, guard }
    return (await this.#sources()).update(tenantOf(options), name, input, edit)
  }

  /** Its rows stay unless told; says how many of them went. */
  async remove(
    name: string,
    options: TenantOption & { readonly rows?: boolean } = {},
  ): Promise<number> {
    const { rows = false } = options
    return (await this.#sources()).remove(tenantOf(options), name, { rows })
  }

  async get(name: string, options: TenantOption = {}): Promise<Source> {
    return (await this.#sources()).get(tenantOf(options), name)
  }

  /** All of them in the order in which they were added, a page at a time behind the scenes. */
  async *list(options: TenantOption = {}): AsyncGenerator<Source, void, void> {
    const sources = await this.#sources()
    let cursor: string | null = null
    do {
      const request = { limit: limits.pageMax, cursor }
      const page: Page<Source> = await sources.list(tenantOf(options), request)
      yield* page.items
      cursor = page.cursor
    } while (cursor !== null)
  }

  /** At most so many requests to the domain in any span of the period; null lifts it. */
  async limit(
    domain: string,
    rate: Omit<RateLimit, 'domain'> | null,
    options: TenantOption = {},
  ): Promise<void> {
    const { rates } = await this.#sources()
    if (rate === null) await rates.remove(tenantOf(options), domain)
    else await rates.put(tenantOf(options), domain, rate)
  }

  async #sources() {
    return (await this.#open()).sources
  }
}

function tenantOf({ tenant }: TenantOption): string {
  return tenant ?? specDefaults.tenant
}
