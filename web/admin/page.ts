import type { PageBuild } from '../built/files.ts'
import { type PageBrand, pageHtml } from '../built/page.ts'

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
