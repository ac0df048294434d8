import { Marked, type Tokens } from 'marked'
import { escaped } from './escaped.ts'
import { type Guide, START } from './guides.ts'

/** A heading, for the list of what is on a page. */
export interface Heading {
  id: string
  text: string
  depth: number
}

/** Lower case, with `-` for blanks, as GitHub makes anchors; an error code stays as it is. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const BASE = '{{base_url}}/'

/**
 * An address of a guide’s Markdown as the page has it: relative, so that it also holds below a stage’s path prefix.
 * @param up what leads from the page to the platform’s base address
 */
const addressFor = (href: string, up: string): string => {
  if (href.startsWith(BASE)) return up + href.slice(BASE.length)
  const [, name, part = ''] = /^([a-z]+)\.md(#.+)?$/.exec(href) ?? []
  return name === undefined ? href : `${up}docs/${name}${part}`
}

/** What stands above a block: the file it is, or that it is an answer. */
const captionOf = (info: string): string => {
  const [language = '', word = ''] = info.split(/ (.*)/s)
  const [, file] = /^file=(\S+)$/.exec(word) ?? []
  if (file) return `<code>${escaped(file)}</code>`
  if (word === 'answer') return 'Answer'
  return language === 'sh' ? 'Terminal' : escaped(language)
}

/** A guide as HTML, with the headings that it has. Its source is this repository’s own, and trusted. */
export const guideHtml = ({ name, markdown }: Guide): { html: string; headings: Heading[] } => {
  const up = name === START ? '' : '../'
  const headings: Heading[] = []
  const taken = new Map<string, number>()
  const idOf = (text: string): string => {
    const wanted = slug(text)
    const times = taken.get(wanted) ?? 0
    taken.set(wanted, times + 1)
    return times === 0 ? wanted : `${wanted}-${times}`
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = depth === 1 ? 'overview' : idOf(text.replaceAll('`', ''))
        headings.push({ id, text: text.replaceAll('`', ''), depth })
        const link = depth === 2 ? ` <a class="anchor" href="#${id}" aria-label="Link to “${escaped(text)}”">#</a>` : ''
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
      },
      code({ text, lang = '' }: Tokens.Code) {
        // What scrolls has to be reachable by keyboard.
        return `<figure class="code"><figcaption>${captionOf(lang)}</figcaption><pre tabindex="0"><code>${escaped(text)}</code></pre></figure>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escaped(addressFor(href, up))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const html = (marked.parse(markdown, { async: false }) as string)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<th>', '<th scope="col">')
  return { html, headings }
}
