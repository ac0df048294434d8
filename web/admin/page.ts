import type { PageBuild } from '../built/files.ts'
import { type PageBrand, pageHtml } from '../built/page.ts'

/** Value of the Content-Security-Policy header. Nobody may frame the page. */
export const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Renders the staff page. Its script loads all data with the admin's token. */
export const adminPage = (build: PageBuild, brand: PageBrand): string =>
  pageHtml(
    {
      brand,
      language: 'en',
      title: 'Staff',
      assets: 'staff/assets/',
      data: { name: 'Staff', entry: 'page', root: './' },
      early: { session: 'admin-session', paths: ['admin/me'] },
      loading: 'Loading…',
      scriptless: 'The staff page needs JavaScript.',
    },
    build,
  )
