import { describe, expect, it } from 'vitest'
import { plainText } from '#web/console/client/ui/plain-text.ts'

describe('the plain text of Markdown', () => {
  it.each([
    ['# Stock\n\nThere are **seven** boxes.', 'Stock There are seven boxes.'],
    ['- [x] Count\n- [ ] _Report_ it', 'Count Report it'],
    ['> 1. `npm run` twice', 'npm run twice'],
    ['See [the list](https://example.com/a?b=1).', 'See the list.'],
    ['| shelf | boxes |\n| :-- | --: |\n| upper | 4 |', 'shelf · boxes upper · 4'],
    ['```ts\nconst total = 4\n```', 'const total = 4'],
    ['Before\n\n---\n\nafter', 'Before after'],
  ])('has no marks of %j', (markdown, plain) => {
    expect(plainText(markdown)).toBe(plain)
  })

  it.each(['2 * 3 * 4', 'snake_case_name', 'a - b', '#tag', '5 < 6 | 7', 'Really?! (yes)'])(
    'keeps %j, which is no Markdown',
    (text) => {
      expect(plainText(text)).toBe(text)
    },
  )

  it('takes no longer for a text made to be slow', () => {
    const start = performance.now()
    for (const part of ['*a ', '**a', '[a](', '`', '- ', '| ', '> ', '_a ']) plainText(part.repeat(20_000))
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})
