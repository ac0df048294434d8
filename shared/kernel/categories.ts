/** The marketplace’s categories; the developer chooses one for an app. */
export const CATEGORIES = [
  'analytics',
  'communication',
  'content',
  'developer-tools',
  'ecommerce',
  'finance',
  'hr',
  'legal',
  'marketing',
  'operations',
  'productivity',
  'sales',
  'support',
  'other',
] as const

export type Category = (typeof CATEGORIES)[number]
