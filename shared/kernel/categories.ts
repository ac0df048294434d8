/** Marketplace categories. A developer chooses one for each app. */
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
