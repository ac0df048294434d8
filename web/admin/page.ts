import type { PageBuild } from '../built/files.ts'
import { pageHtml } from '../built/page.ts'

/** Value of Content-Security-Policy: what may run in the page, what it may ask; nobody may frame it. */
export const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Logos are not shown: whoever submitted one would learn who looks at it, from where and when.
  'img-src data:',
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The staff’s page: what it shows it asks for with the admin’s token. */
export const adminPage = (build: PageBuild): string =>
  pageHtml(
    {
      title: 'Staff',
      assets: 'staff/assets/',
      data: { name: 'Staff', entry: 'page', root: './' },
      scriptless: 'The staff’s page needs JavaScript.',
    },
    build,
  )
