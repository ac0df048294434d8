import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

type Role = Parameters<Page['getByRole']>[0]

/** Most presses of Tab to a control. A person needs shortcuts or the skip link for one that is farther away. */
const LIMIT = 60

const named = (page: Page, role: Role, name: string | RegExp): Locator =>
  page.getByRole(role, { name, exact: typeof name === 'string' })

const hasFocus = async (page: Page, found: Locator): Promise<boolean> =>
  (await found.and(page.locator(':focus')).count()) > 0

/** Describes what has the focus if a part of its first 40 pixels is outside of the window or behind something else. */
const COVERED = `(() => {
  const focused = document.activeElement
  if (!focused || focused === document.body || focused.closest('.unseen')) return null
  const { left, right, top, bottom } = (focused.matches('input[type=radio]') && focused.nextElementSibling || focused).getBoundingClientRect()
  const says = (problem) => problem + ' (' + Math.round(top) + ' to ' + Math.round(bottom) + ' of ' + innerHeight + '): ' + focused.outerHTML.slice(0, 160)
  const bar = document.querySelector('.shell > nav')
  const edge = bar && getComputedStyle(bar).position === 'fixed' && !bar.contains(focused) && !focused.closest('dialog')
    ? bar.getBoundingClientRect().top : innerHeight
  // An element taller than the window can show only its beginning or its end.
  const isTall = bottom - top > edge / 2
  if (top >= edge || (!isTall && bottom > edge + 2)) return says('behind the bar or below the window')
  if (bottom <= 0 || (!isTall && top < -2)) return says('above the window')
  const [x, y] = [(left + Math.min(right, left + 80)) / 2, (Math.max(top, 0) + Math.min(bottom, edge, top + 40)) / 2]
  const at = document.elementFromPoint(x, y)
  const label = focused.closest('label, .move, .segments > label')
  return !at || focused.contains(at) || at.contains(focused) || label?.contains(at) ? null : says('behind ' + at.outerHTML.slice(0, 80))
})()`

/** Expects what has the focus to be in the window, and behind nothing. */
export const expectInSight = async (page: Page): Promise<void> => {
  expect(await page.evaluate(COVERED)).toBeNull()
}

const press = async (page: Page, key: 'Tab' | 'Shift+Tab', role: Role, name: string | RegExp, limit: number) => {
  const wanted = named(page, role, name)
  await wanted.first().waitFor({ state: 'attached' })
  if (await hasFocus(page, wanted)) return
  for (let presses = 1; presses <= limit; presses += 1) {
    await page.keyboard.press(key)
    await expectInSight(page)
    if (await hasFocus(page, wanted)) return
  }
  const last = await page.evaluate('document.activeElement?.outerHTML.slice(0, 200)')
  throw new Error(`${key} reaches no ${role} ${name} within ${limit} presses. It ended at ${last}`)
}

/** Presses Tab until a control has the focus, and expects all that has it on the way to be in sight. Does nothing if it has it. */
export const tabTo = (page: Page, role: Role, name: string | RegExp, limit = LIMIT): Promise<void> =>
  press(page, 'Tab', role, name, limit)

/** Presses Shift and Tab until a control has the focus. */
export const tabBackTo = (page: Page, role: Role, name: string | RegExp, limit = LIMIT): Promise<void> =>
  press(page, 'Shift+Tab', role, name, limit)

/** Reaches a button with Tab, and presses Enter. */
export const pressButton = async (page: Page, name: string | RegExp, limit?: number): Promise<void> => {
  await tabTo(page, 'button', name, limit)
  await page.keyboard.press('Enter')
}

/** Reaches a link with Tab, and follows it. */
export const followLink = async (page: Page, name: string | RegExp, limit?: number): Promise<void> => {
  await tabTo(page, 'link', name, limit)
  await page.keyboard.press('Enter')
}

/** Reaches a field with Tab, and replaces its text. */
export const typeInto = async (page: Page, name: string | RegExp, text: string): Promise<void> => {
  await tabTo(page, 'textbox', name)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Reaches a list of options with Tab, and chooses one by the beginning of its text. */
export const choose = async (page: Page, name: string | RegExp, option: string): Promise<void> => {
  await tabTo(page, 'combobox', name)
  // The options may still be loading.
  const all = '[...document.activeElement.options].map(({ textContent }) => textContent).join()'
  await expect.poll(() => page.evaluate<string>(all)).toContain(option)
  await page.keyboard.type(option)
  const shown = 'document.activeElement.selectedOptions?.[0]?.textContent ?? ""'
  await expect.poll(() => page.evaluate<string>(shown)).toContain(option)
}

/** Expects a control to get the focus. */
export const expectFocus = (page: Page, role: Role, name: string | RegExp): Promise<void> =>
  expect.poll(() => hasFocus(page, named(page, role, name)), { message: `focus on ${role} ${name}` }).toBe(true)

/** Expects an element that is a dialog's to be gone, and the focus to be on the control that opened it. */
export const expectReturned = async (page: Page, role: Role, name: string | RegExp): Promise<void> => {
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  await expectFocus(page, role, name)
}

/** How the marked element and what it is in are drawn, as far as the focus changes that. */
const LOOKS = `[marked, marked.nextElementSibling, marked.parentElement, marked.parentElement.parentElement]
  .filter(Boolean)
  .map((one) => {
    const { outline, boxShadow, transform } = getComputedStyle(one)
    return [outline, boxShadow, one === marked ? transform : ''].join(' ')
  }).join('; ')`

/** Expects the control that has the focus to look different without it. The focus stays. */
export const expectVisibleFocus = async (page: Page): Promise<void> => {
  await page.evaluate('window.marked = document.activeElement')
  const focused = await page.evaluate(LOOKS)
  // A date has several parts.
  let parts = 0
  do {
    await page.keyboard.press('Tab')
    parts += 1
  } while (await page.evaluate('marked === document.activeElement'))
  const unfocused = await page.evaluate(LOOKS)
  for (let part = 0; part < parts; part += 1) await page.keyboard.press('Shift+Tab')
  expect(await page.evaluate('marked === document.activeElement')).toBe(true)
  expect(focused, `looks of ${await page.evaluate('marked.outerHTML.slice(0, 160)')}`).not.toBe(unfocused)
}
