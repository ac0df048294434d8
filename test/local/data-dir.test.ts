import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '#local/aws/database.ts'
import { checkData, deleteData } from '#local/data-dir.ts'
import { temporaryFolder } from './support.ts'

let place: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(() => place.remove())

const file = (name: string) => path.join(place.folder, name)

test.each(['services.db', 'dynamodb.db'])('a broken %s is set aside with all data, not deleted', async (name) => {
  openDatabase(place.folder).close()
  mkdirSync(file('objects'))
  writeFileSync(file(name), 'no database'.repeat(1_000))
  const aside = (await checkData(place.folder)) ?? ''
  expect(path.dirname(aside)).toBe(place.folder)
  expect(readFileSync(path.join(aside, name), 'utf8')).toContain('no database')
  expect(readdirSync(aside)).toContain('objects')
  expect(await checkData(place.folder)).toBeUndefined()
})

test('--fresh recovers a folder with any broken file', async () => {
  writeFileSync(file('dynamodb.db'), 'no database')
  mkdirSync(file('services.db'))
  writeFileSync(file('objects'), 'no folder')
  writeFileSync(file('run.json'), '{')
  await deleteData(place.folder)
  expect(['dynamodb.db', 'objects', 'run.json'].filter((name) => existsSync(file(name)))).toEqual([])
  expect(await checkData(place.folder)).toBeUndefined()
})

test('--fresh leaves the data of a run that uses it', async () => {
  const database = openDatabase(place.folder)
  await expect(deleteData(place.folder)).rejects.toThrow(`Another local run uses ${place.folder}`)
  database.close()
})

test('a file in the place of the folder is named, with what to do', async () => {
  writeFileSync(file('taken'), '')
  for (const open of [checkData, deleteData]) {
    await expect(open(file('taken'))).rejects.toThrow(
      `The data folder ${file('taken')} is a file, or below one. Move the file away, or set DATA_DIR to another folder.`,
    )
  }
})

// The superuser may write everywhere.
test.skipIf(process.getuid?.() === 0)('a folder that may not be written is named, with what to do', async () => {
  mkdirSync(file('read-only'), { mode: 0o500 })
  await expect(checkData(file('read-only'))).rejects.toThrow(
    `The data folder ${file('read-only')} can't be written (EACCES). Make the folder and the files in it writable`,
  )
})
