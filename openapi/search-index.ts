import MiniSearch from 'minisearch'
import { type FoundPart, SEARCH_OPTIONS } from '../web/docs/client/search-options.ts'
import { renderGuide } from './guide-html.ts'
import type { Guide } from './guides.ts'

/** A part of a page that a search can find. */
export interface SearchedPart extends FoundPart {
  text: string
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'", '#x27': "'" }

/** Returns the text of HTML that this build rendered. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<a class="anchor".*?<\/a>|<[^>]+>/gs, ' ')
    .replaceAll(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replaceAll(/\s+/g, ' ')
    .trim()

const HEADING = /<h[1-3] id="([^"]+)">(.*?)<\/h[1-3]>/gs
const CODE_BLOCK = /<figure.*?<\/figure>/gs

/** Lists the sections of a guide. */
export const guideParts = (guide: Guide): SearchedPart[] => {
  const { html } = renderGuide(guide)
  const headings = [...html.matchAll(HEADING)]
  return headings.map(({ index, 0: whole, 1: id = '', 2: title = '' }, at) => {
    const section = html.slice(index + whole.length, headings[at + 1]?.index)
    return {
      id: `docs/${guide.name}${id === 'overview' ? '' : `#${id}`}`,
      page: guide.title,
      title: textOf(title),
      lead: leadOf(textOf(section.replaceAll(CODE_BLOCK, ''))),
      text: textOf(section),
    }
  })
}

/** Length of the text that a result shows. */
const LEAD = 140

/** Returns the beginning of a text, up to the last whole word. */
export const leadOf = (text: string): string =>
  text.length <= LEAD ? text : `${text.slice(0, LEAD).replace(/\s+\S*$/, '')} …`

/** Builds the index that the pages' script searches, as JSON. */
export const searchIndex = (parts: readonly SearchedPart[]): string => {
  const index = new MiniSearch<SearchedPart>(SEARCH_OPTIONS)
  index.addAll(parts)
  return JSON.stringify(index)
}
