import { t } from './messages.ts'
import type { paths } from './platform.d.ts'

export type Category = NonNullable<NonNullable<paths['/console/marketplace']['get']['parameters']['query']>['category']>

/** Every category of the API, in words. The type makes a missing or removed one a compile error. */
export const CATEGORIES: Readonly<Record<Category, string>> = {
  analytics: t('Analytics'),
  communication: t('Communication'),
  content: t('Content', {}, 'category'),
  'developer-tools': t('Developer tools'),
  ecommerce: t('E-commerce'),
  finance: t('Finance'),
  hr: t('Human resources'),
  legal: t('Legal'),
  marketing: t('Marketing'),
  operations: t('Operations'),
  productivity: t('Productivity'),
  sales: t('Sales'),
  support: t('Support', {}, 'category'),
  other: t('Other'),
}
