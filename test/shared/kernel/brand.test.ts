import { describe, expect, it } from 'vitest'
import { brandSignature, contrast, DEFAULT_BRAND, pageBrand, shadesOf } from '#shared/kernel/brand.ts'
import { settingSchema } from '#shared/kernel/settings/declared.ts'

const schema = settingSchema('brand')

const BACKGROUNDS = {
  light: { papers: ['#ffffff', '#f2f4f7', '#f5f5f7', '#fff4cc'], soft: '#57606a', ink: '#1b1f24' },
  dark: { papers: ['#161b22', '#0d1117', '#1b1b1e', '#3a3312'], soft: '#9da7b3', ink: '#e6edf3' },
} as const

const ACCENTS = [
  DEFAULT_BRAND.accent,
  '#000000',
  '#ffffff',
  '#ffd400',
  '#00ff00',
  '#0000ff',
  '#ff0000',
  '#7f7f7f',
  '#00ffff',
]

describe('the accent of a brand', () => {
  it.each(ACCENTS)('%s has shades that are readable in both themes', (accent) => {
    for (const scheme of ['light', 'dark'] as const) {
      const { act, onAct, actPaper } = shadesOf(accent, scheme)
      const { papers, soft, ink } = BACKGROUNDS[scheme]
      for (const paper of [...papers, actPaper]) expect(contrast(act, paper)).toBeGreaterThanOrEqual(4.5)
      expect(contrast(onAct, act)).toBeGreaterThanOrEqual(4.5)
      for (const text of [soft, ink]) expect(contrast(text, actPaper)).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('stays as it is where it is readable', () => {
    expect(shadesOf('#4f46e5', 'light').act).toBe('#4f46e5')
  })
})

describe('the setting', () => {
  it('takes JSON or its text, and has a default for what is left out', () => {
    const of = { name: 'Acme', supportUrl: 'mailto:help@acme.example' }
    expect(schema.parse(of)).toEqual({ ...DEFAULT_BRAND, ...of })
    expect(schema.parse(JSON.stringify(of))).toEqual({ ...DEFAULT_BRAND, ...of })
    expect(schema.parse(undefined)).toEqual(DEFAULT_BRAND)
  })

  it.each([
    ['markup in the name', { name: '<b>Acme' }],
    ['quotes in the name', { name: 'Acme " onload' }],
    ['a path that ends its attribute', { logo: 'M2 2"/><script>' }],
    ['a logo elsewhere', { logo: 'https://acme.example/logo.png' }],
    ['a colour by name', { accent: 'red' }],
    ['a script as support', { supportUrl: 'javascript:alert(1)' }],
    ['an unknown field', { color: '#000000' }],
    ['text that is no JSON', 'Acme'],
  ])('refuses %s', (_, value) => {
    expect(schema.safeParse(value).success).toBe(false)
  })
})

it('the address of the brand’s files changes with its mark and its colour', () => {
  const version = (change: object) => pageBrand({ brand: { ...DEFAULT_BRAND, ...change } }).version
  expect(version({ accent: '#112233' })).not.toBe(version({}))
  expect(version({ logo: 'M0 0z' })).not.toBe(version({}))
  expect(version({ name: 'Acme' })).toBe(version({}))
})

it('e-mails are signed with the name, and the support address if there is one', () => {
  expect(brandSignature(DEFAULT_BRAND)).toBe(DEFAULT_BRAND.name)
  expect(brandSignature({ ...DEFAULT_BRAND, supportUrl: 'https://acme.example/help' })).toContain('acme.example/help')
})
