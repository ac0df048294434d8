import type { PageBuild } from '../built/files.ts'
import { type PageBrand, pageHtml } from '../built/page.ts'

interface DevelopersPageOptions {
  brand: PageBrand
  /** Language of the page. */
  language: string
  /** Returns a text in this language. */
  t: (message: string) => string
}

/** Renders the developer portal. Its script loads all data with the developer's session. */
export const developersPage = (build: PageBuild, { brand, language, t }: DevelopersPageOptions): string =>
  pageHtml(
    {
      brand,
      language,
      title: t('Developers'),
      assets: 'developers/assets/',
      data: { name: 'Developers', entry: 'page', root: './' },
      early: { session: 'developer-session', credential: 'x-developer-key', paths: ['api/v1/dev/me'] },
      loading: t('Loading…'),
      scriptless: t('The developer portal needs JavaScript.'),
    },
    build,
  )
