import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { FileEntity } from '#shared/work/files/entity.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { usingBucket } from '#testkit/bucket.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { callAs, consoleStage, openAs, type Person, person } from './harness.ts'

const stage = consoleStage()
const scratch = scratchFolder('uploads-')
const bucket = usingBucket(stage)
afterAll(() => scratch.remove())
beforeEach(() => stage.mayAsk.add(bucket.origin))

const call = callAs(stage)

interface Stored {
  id: string
  name: string
  status: string
  size: number
}

const stored = async (who: Person, query = ''): Promise<Stored[]> =>
  (await call(who, 'GET', `/console/files?${query}`)).items

/** Creates a file later than the one before, so that they have an order. */
const create = (who: Person, name: string, content_type: string, content: string | Buffer, more: object = {}) => {
  stage.platform.clock.advance(10)
  return call(who, 'POST', '/console/files', {
    name,
    content_type,
    ...(typeof content === 'string' ? { content } : { content_base64: content.toString('base64') }),
    ...more,
  })
}

const button = (name: string) => stage.page.getByRole('button', { name, exact: true })
const dialog = () => stage.page.getByRole('dialog')
const atBucket = () => `${bucket.origin}/**`

/** Writes a file to disk, so that its date stays the same when it is chosen again. */
const onDisk = (name: string, size: number): string => {
  mkdirSync(scratch.folder, { recursive: true })
  const file = path.join(scratch.folder, name)
  writeFileSync(file, Buffer.alloc(size, 'x'))
  return file
}

/** Drops files onto the screen, as a person does with the pointer. */
const drop = (files: readonly (readonly [name: string, text: string])[]): Promise<void> =>
  stage.page.evaluate(
    `(() => {
      const dataTransfer = new DataTransfer()
      for (const [name, text] of ${JSON.stringify(files)})
        dataTransfer.items.add(new File([text], name, { type: 'text/plain' }))
      for (const type of ['dragover', 'drop'])
        document.querySelector('.drop').dispatchEvent(
          new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
    })()`,
  )

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const MARK = 'hacked'
const HOSTILE = `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='${MARK}'"><script>document.title='${MARK}'</script></svg>`

describe('uploads', () => {
  it('take several dropped files at once, into the folder that is shown', async () => {
    const who = await person(stage)
    const folder = await call(who, 'POST', '/console/files', { kind: 'folder', name: 'Invoices' })
    await openAs(stage, who, `/files?folder=${folder.id}`)
    await stage.page.getByRole('heading', { name: 'Invoices' }).waitFor()
    const names = ['one.txt', 'two.txt', 'three.txt']
    await drop(names.map((name) => [name, name]))
    for (const name of names) await button(name).waitFor()
    const files = await stored(who, `folder_id=${folder.id}`)
    expect(files.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready'])
    await stage.page.getByRole('heading', { name: 'Uploads' }).waitFor({ state: 'detached' })
  })

  it('show their progress and continue by themselves when the connection was dropped', async () => {
    const { page } = stage
    const who = await person(stage)
    let attempts = 0
    await page.route(atBucket(), (route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      attempts += 1
      return attempts === 1 ? route.abort('connectionreset') : route.continue()
    })
    await openAs(stage, who, '/files')
    await page.locator('input[type=file]').setInputFiles(onDisk('film.mp4', 4_000_000))
    await page.getByRole('progressbar', { name: 'Upload of film.mp4' }).waitFor()
    await page.getByText('Waiting for the connection').waitFor()
    await button('film.mp4').waitFor()
    await expect.poll(async () => (await stored(who))[0]).toMatchObject({ size: 4_000_000, status: 'ready' })
    expect(attempts).toBe(2)
  })

  it('that a reload interrupts say so, and continue with the same file only', async () => {
    const { page } = stage
    const who = await person(stage)
    let held = true
    await page.route(atBucket(), (route) => (held && route.request().method() === 'PUT' ? undefined : route.continue()))
    await openAs(stage, who, '/files')
    const file = onDisk('long.bin', 4_000_000)
    await page.locator('input[type=file]').setInputFiles(file)
    await expect.poll(async () => (await stored(who)).length).toBe(1)
    await page.reload()
    await page.getByText('Interrupted by a reload').waitFor()
    await expectAccessible(page, 'files-interrupted')
    held = false
    const again = page.getByLabel('Choose long.bin again')
    await again.setInputFiles(onDisk('other.bin', 4_000_001))
    await page.getByText('That’s another file.').waitFor()
    await again.setInputFiles(file)
    await button('Download long.bin').waitFor()
    expect((await stored(who)).map(({ name, status }) => [name, status])).toEqual([['long.bin', 'ready']])
    await page.reload()
    await button('Download long.bin').waitFor()
    expect(await page.getByRole('heading', { name: 'Uploads' }).count()).toBe(0)
  })

  it('can be cancelled, and leave no file', async () => {
    const { page } = stage
    const who = await person(stage)
    await page.route(atBucket(), (route) => (route.request().method() === 'PUT' ? undefined : route.continue()))
    await openAs(stage, who, '/files')
    await page.locator('input[type=file]').setInputFiles([onDisk('a.bin', 4_000_000), onDisk('b.bin', 4_000_000)])
    await expect.poll(async () => (await stored(who)).length).toBe(2)
    await expectAccessible(page, 'files-uploading')
    await button('Cancel a.bin').click()
    await button('Cancel b.bin').click()
    await expect.poll(async () => (await stored(who)).length).toBe(0)
    await page.getByText('No files yet').waitFor()
  })
})

describe('previews', () => {
  const open = async (who: Person, name: string): Promise<void> => {
    await openAs(stage, who, '/files')
    await button(name).click()
    await dialog().waitFor()
  }

  it('show an image, by the type that its content has', async () => {
    const { page } = stage
    const who = await person(stage)
    await create(who, 'dot.png', 'image/png', PNG)
    await open(who, 'dot.png')
    const image = dialog().getByRole('img', { name: 'dot.png' })
    await image.waitFor()
    expect(await image.getAttribute('src')).toMatch(/^data:image\/png;base64,/)
    await expectAccessible(page, 'files-preview-image')
    expect(await page.getByText('The image is damaged.').count()).toBe(0)
  })

  it('show CSV as a table, with quotes, line breaks and other separators', async () => {
    const who = await person(stage)
    await create(who, 'people.csv', 'text/csv', 'name;note\n"Ada; Lovelace";"two\nlines"\nGrace;"says ""hi"""\n')
    await open(who, 'people.csv')
    await dialog().getByRole('columnheader', { name: 'note' }).waitFor()
    const cells = await dialog().locator('td').allTextContents()
    expect(cells).toEqual(['Ada; Lovelace', 'two\nlines', 'Grace', 'says "hi"'])
    await expectAccessible(stage.page, 'files-preview-csv')
  })

  it('show Markdown with its structure, and open a PDF in a tab of its own', async () => {
    const who = await person(stage)
    await create(who, 'notes.md', 'text/markdown', '# Stock\n\n- seven **boxes**\n')
    await create(who, 'paper.pdf', 'application/pdf', '%PDF-1.4')
    await open(who, 'notes.md')
    expect(await dialog().locator('li strong').textContent()).toBe('boxes')
    await button('Close').click()
    await button('paper.pdf').click()
    const link = dialog().getByRole('link', { name: 'Open PDF in a new tab' })
    expect(await link.getAttribute('rel')).toContain('noopener')
    const { headers } = await fetch((await link.getAttribute('href')) ?? '')
    expect(headers.get('content-type')).toBe('application/pdf')
    expect(headers.get('content-disposition')).toMatch(/^inline;/)
  })

  it.each([
    ['page.html', 'text/html'],
    ['drawing.svg', 'image/svg+xml'],
    ['page.xhtml', 'application/xhtml+xml'],
    ['code.js', 'text/javascript'],
  ])('show %s as text and never run it', async (name, type) => {
    const { page } = stage
    const who = await person(stage)
    await create(who, name, type, HOSTILE)
    await open(who, name)
    await dialog().getByText('onload').waitFor()
    expect(await dialog().locator('.preview-area svg, script').count()).toBe(0)
    expect(await page.title()).not.toContain(MARK)
  })

  it('refuse an image that is something else, and text that isn’t text', async () => {
    const who = await person(stage)
    await create(who, 'fake.png', 'image/png', HOSTILE)
    await create(who, 'fake.txt', 'text/plain', Buffer.from([0xff, 0xfe, 0x00, 0x80]))
    await open(who, 'fake.png')
    await dialog().getByText('This isn’t an image that can be shown.').waitFor()
    await button('Close').click()
    await button('fake.txt').click()
    await dialog().getByText('This isn’t text in UTF-8').waitFor()
    expect(await stage.page.title()).not.toContain(MARK)
  })

  it('write out characters that would mislead', async () => {
    const who = await person(stage)
    await create(who, 'a.txt', 'text/plain', 'safe\u202Etxt.exe\tend')
    await open(who, 'a.txt')
    await expect.poll(() => dialog().locator('.preview-text').textContent()).toBe('safe\\u202etxt.exe\tend')
  })
})

describe('the list of files', () => {
  it('is sorted, searched in all folders, and keeps both in the address', async () => {
    const { page } = stage
    const who = await person(stage)
    const folder = await call(who, 'POST', '/console/files', { kind: 'folder', name: 'Bills' })
    await create(who, 'b.txt', 'text/plain', 'bbbb')
    await create(who, 'a.txt', 'text/plain', 'a')
    await create(who, 'müller bill.txt', 'text/plain', 'cc', { folder_id: folder.id })
    await openAs(stage, who, '/files')
    const names = () => page.locator('.file-row .name').allTextContents()
    await expect.poll(names).toEqual(['a.txt', 'b.txt'])
    await page.getByLabel('Sort by').selectOption('Largest first')
    await expect.poll(names).toEqual(['b.txt', 'a.txt'])
    await expectAccessible(page, 'files')
    await page.getByLabel('Search files').fill('muller')
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['müller bill.txt'])
    await page.reload()
    await expect.poll(names).toEqual(['müller bill.txt'])
    expect(await page.getByLabel('Sort by').inputValue()).toBe('largest')
  })

  it('lets a person rename and move files, and rename and delete folders, by keyboard', async () => {
    const { page } = stage
    const who = await person(stage)
    await call(who, 'POST', '/console/files', { kind: 'folder', name: 'Bills' })
    await create(who, 'old.txt', 'text/plain', 'x')
    await create(who, 'top.txt', 'text/plain', 'x')
    await openAs(stage, who, '/files')
    await button('top.txt').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('F2')
    await dialog().getByLabel('Name').fill('new.txt')
    await page.keyboard.press('Enter')
    await button('new.txt').waitFor()
    await button('new.txt').press('Enter')
    await dialog().getByRole('button', { name: 'Move' }).press('Enter')
    await dialog().getByLabel('Folder').selectOption('Bills')
    await dialog().getByRole('button', { name: 'Move' }).press('Enter')
    await button('new.txt').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Bills' }).press('Enter')
    await button('new.txt').waitFor()
    await button('Rename folder').press('Enter')
    await dialog().getByLabel('Name').fill('Paid bills')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Paid bills', level: 1 }).waitFor()
    await expectAccessible(page, 'files-folder')
    await button('Delete folder').press('Enter')
    await dialog().getByRole('button', { name: 'Delete folder' }).press('Enter')
    // The folder's screen shows the file as well, and the next screen takes the focus.
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Files')
    await button('new.txt').waitFor()
    await expect.poll(() => stored(who, 'kind=folder')).toEqual([])
    await button('new.txt').press('Delete')
    await dialog().getByRole('button', { name: 'Delete' }).press('Enter')
    await button('new.txt').waitFor({ state: 'detached' })
  })

  it('hands the focus of a deleted file to the next one, at the end to the previous, and of the last to the heading', async () => {
    const { page } = stage
    const who = await person(stage)
    for (const n of [1, 2, 3, 4]) await create(who, `file ${n}.txt`, 'text/plain', 'x')
    await openAs(stage, who, '/files')
    const focused = () => page.evaluate('document.activeElement.textContent')
    const remove = async (name: string) => {
      expect(await focused()).toBe(name)
      await page.keyboard.press('Delete')
      await dialog().getByRole('button', { name: 'Delete' }).press('Enter')
      await button(name).waitFor({ state: 'detached' })
    }
    await button('file 4.txt').waitFor()
    const [a = '', b = '', c = '', d = ''] = await page.locator('.file-row .name').allTextContents()
    await button(b).focus()
    await remove(b)
    await expect.poll(focused).toBe(c)
    await remove(c)
    await expect.poll(focused).toBe(d)
    await remove(d)
    await expect.poll(focused).toBe(a)
    await remove(a)
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  })

  it('moves and deletes selected files together, chosen with the keyboard one by one, as a range or all', async () => {
    const { page } = stage
    const { keyboard } = page
    const who = await person(stage)
    await call(who, 'POST', '/console/files', { kind: 'folder', name: 'Bills' })
    for (const n of [1, 2, 3, 4, 5, 6]) await create(who, `file ${n}.txt`, 'text/plain', 'x')
    await openAs(stage, who, '/files')
    await button('file 6.txt').waitFor()
    const names = () => page.locator('.file-row .name').allTextContents()
    const [a = '', b = '', c = '', d = '', e = '', f = ''] = await names()
    const toolbar = page.getByRole('toolbar', { name: 'Selected files' })
    const ticked = () =>
      page
        .locator('.file-row')
        .filter({ has: page.locator('.select:checked') })
        .locator('.name')
        .allTextContents()
    await button(a).focus()
    await keyboard.press('x')
    await toolbar.getByText('1 selected').waitFor()
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    await keyboard.press('Shift+X')
    await toolbar.getByText('3 selected').waitFor()
    expect(await ticked()).toEqual([a, b, c])
    await expectAccessible(page, 'files-selected')
    await keyboard.press('Escape')
    await toolbar.waitFor({ state: 'detached' })
    await keyboard.press('Control+a')
    await toolbar.getByText('6 selected').waitFor()
    await toolbar.getByRole('button', { name: 'Select none' }).press('Enter')
    await toolbar.waitFor({ state: 'detached' })

    await page.getByRole('checkbox', { name: `Select ${a}` }).click()
    await page.getByRole('checkbox', { name: `Select ${b}` }).click({ modifiers: ['Shift'] })
    await toolbar.getByRole('button', { name: 'Move' }).press('Enter')
    await dialog().getByLabel('Folder').selectOption('Bills')
    await dialog().getByRole('button', { name: 'Move' }).press('Enter')
    await page.getByText('2 files moved.').waitFor()
    await expect.poll(names).toEqual([c, d, e, f])
    const [folder] = await stored(who, 'kind=folder')
    expect((await stored(who, `folder_id=${folder?.id}`)).map(({ name }) => name).sort()).toEqual([a, b].sort())

    await button(d).focus()
    await keyboard.press('x')
    await keyboard.press('ArrowDown')
    await keyboard.press('x')
    await toolbar.getByRole('button', { name: 'Delete' }).press('Enter')
    await dialog().getByRole('heading', { name: 'Delete 2 files?' }).waitFor()
    await dialog().getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByText('2 files deleted.').waitFor()
    await expect.poll(names).toEqual([c, f])
    expect((await stored(who, 'folder_id=root')).map(({ name }) => name).sort()).toEqual([c, f].sort())
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(f)
  })

  it('shows a small picture of each image, made from its content, without counting that as a use', async () => {
    const { page } = stage
    const who = await person(stage)
    const { id } = await create(who, 'dot.png', 'image/png', PNG)
    await create(who, 'lie.png', 'image/png', 'no image')
    await create(who, 'note.txt', 'text/plain', 'x')
    const uses = async () => (await call(who, 'GET', `/console/files/${id}/uses`)).items
    const before = await uses()
    const loaded: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('thumbnail=true')) loaded.push(request.url())
    })
    await openAs(stage, who, '/files')
    const kind = (name: string) =>
      page
        .locator('.file-row')
        .filter({ has: button(name) })
        .locator('.kind')
    const picture = kind('dot.png').locator('img')
    await picture.waitFor()
    expect(
      await picture.evaluate((image: { naturalWidth: number; naturalHeight: number }) => [
        image.naturalWidth,
        image.naturalHeight,
      ]),
    ).toEqual([80, 80])
    expect(await picture.getAttribute('src')).toMatch(/^data:image\/png;base64,/)
    await expect.poll(() => loaded.length).toBe(2)
    expect(await kind('lie.png').textContent()).toBe('PNG')
    expect(await kind('note.txt').textContent()).toBe('TXT')
    expect(await uses()).toEqual(before)
    // The way back to the list finds the picture made.
    await page.evaluate("location.hash = '/tasks'")
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    await page.goBack()
    await picture.waitFor()
    expect(loaded.filter((url) => url.includes(id))).toHaveLength(1)
  })

  it('shows who used a file', async () => {
    const who = await person(stage)
    const { id } = await create(who, 'seen.txt', 'text/plain', 'x')
    const other = await person(stage, who.workspace.id, 'member')
    await call(other, 'GET', `/console/files/${id}/download`)
    await openAs(stage, who, '/files')
    await button('seen.txt').click()
    await dialog().getByText('Who used it').click()
    await dialog().locator('.uses').getByText(other.user.name).waitFor()
    await expectAccessible(stage.page, 'files-used')
  })

  it('of 3,000 files renders only what is near the window, and a key is painted at once', async () => {
    const { page } = stage
    const who = await person(stage)
    const now = Date.now() - 10_000_000
    const writes = Array.from({ length: 3_000 }, (_, i) =>
      FileEntity.create({
        ...stampOf(newId('file', now + i)),
        workspace_id: who.workspace.id,
        name: `file ${i}.txt`,
        content_type: 'text/plain',
        size: i,
        status: 'ready',
        created_by: { type: 'user', id: who.user.id, name: who.user.name },
      }),
    )
    for (let i = 0; i < writes.length; i += 100) await stage.platform.deps.table.transact(writes.slice(i, i + 100))
    await openAs(stage, who, '/files')
    await button('file 2999.txt').waitFor()
    const rows = page.locator('.file-row')
    const reached = async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      return button('file 0.txt').count()
    }
    await expect.poll(reached).toBe(1)
    expect(await rows.count()).toBeLessThan(60)
    await button('file 8.txt').focus()
    const painted =
      'new Promise((resolve) => { const began = performance.now(); requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began))) })'
    const took: number[] = []
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('ArrowDown')
      took.push(Number(await page.evaluate(painted)))
    }
    expect(await page.evaluate('document.activeElement.textContent')).toBe('file 2.txt')
    if (process.env.SCREENSHOTS) console.log('key to paint in ms:', took)
    expect(await rows.count()).toBeLessThan(60)
  })
})
