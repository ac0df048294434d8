import type { ComponentChildren } from 'preact'
import { brandMark, brandName, supportUrl } from '../session/config.ts'

/** The platform's mark and name. @param page name of the part of the platform */
export const Brand = ({ page }: { page?: string }) => (
  <p class="brand">
    <img src={brandMark} alt={page ? brandName : ''} width="28" height="28" />
    <strong>{page ?? brandName}</strong>
  </p>
)

/** The platform's mark without its name. */
export const Mark = () => <img class="mark" src={brandMark} alt={brandName} title={brandName} width="28" height="28" />

/** A link to the operator's support, or its words alone. */
export const Support = ({ children }: { children: ComponentChildren }) =>
  supportUrl ? (
    <a href={supportUrl} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  )
