// The frame of one page: its heading, its buttons, the title of the tab.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { environment } from '../href.ts'

export function useTitle(title: string): void {
  useEffect(() => {
    const place = environment === '' ? '' : `[${environment}] `
    document.title = `${place}${title} · Carillon`
  }, [title])
}

interface PageProps {
  readonly title: string
  /** Shown instead of the title, when it is more than words. */
  readonly heading?: ComponentChildren
  readonly about?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Page({ title, heading, about, actions, children }: PageProps) {
  useTitle(title)
  return (
    <>
      <header class="page-head">
        <div class="page-title">
          <h1>{heading ?? title}</h1>
          {about !== undefined && <div class="about">{about}</div>}
        </div>
        {actions !== undefined && <div class="row actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

interface CardProps {
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly wide?: boolean
  /** No padding: for tables and lists that fill it. */
  readonly isFlush?: boolean
}

export function Card({ title, aside, children, wide = false, isFlush = false }: CardProps) {
  return (
    <section class={`card${wide ? ' wide' : ''}${isFlush ? ' flush' : ''}`}>
      <header>
        <h2>{title}</h2>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </header>
      <div class="card-body">{children}</div>
    </section>
  )
}
