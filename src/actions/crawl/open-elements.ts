// Which elements of a page are open, as far as it decides what is read: a list of bounded depth.

/** Where browsers stop nesting too; an element beyond takes the place of the one before it. */
export const DEPTH_MAX = 512

/** What people do not read. */
const silent: ReadonlySet<string> = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'title',
])
/** Elements without content never open anything. */
const voids: ReadonlySet<string> = new Set(
  [
    'area base basefont br col command embed frame hr img input isindex',
    'keygen link meta param source track wbr',
  ].flatMap(line => line.split(' ')),
)

/** Every element is taken off once, so the work grows with the page and not with its nesting. */
export class OpenElements {
  readonly #names: string[] = []
  readonly #counts = new Map<string, number>()
  /** How many were open when the outermost silent element opened; null outside of one. */
  #silentFrom: number | null = null

  /** Whether what comes now is inside an element that nobody reads. */
  get isSilent(): boolean {
    return this.#silentFrom !== null
  }

  open(name: string): void {
    if (voids.has(name)) return
    if (this.#names.length >= DEPTH_MAX) this.#pop()
    if (this.#silentFrom === null && silent.has(name)) this.#silentFrom = this.#names.length
    this.#names.push(name)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Closes the innermost of that name with everything inside it; a tag that fits none is ignored. */
  close(name: string): void {
    if ((this.#counts.get(name) ?? 0) === 0) return
    while (this.#pop() !== name);
  }

  /** `<svg/>`: drawings may close in their opening tag, other elements do not. */
  closeItself(name: string): void {
    if (name === 'svg' || this.#names[this.#silentFrom ?? -1] === 'svg') this.close(name)
  }

  #pop(): string {
    const name = this.#names.pop()!
    this.#counts.set(name, this.#counts.get(name)! - 1)
    if (this.#names.length === this.#silentFrom) this.#silentFrom = null
    return name
  }
}
