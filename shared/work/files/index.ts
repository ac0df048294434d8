export { type ContentInput, decodeContent } from './content.ts'
export { agentFileOwner, createFile, renewUpload, storeFile } from './create.ts'
export { editFile } from './edit.ts'
export { FileEntity, type FileRecord, FolderEntity, filesIn, type LooseObject, LooseObjectEntity } from './entity.ts'
export { createFolder, deleteFolder, handleOverdueFolder, renameFolder } from './folders.ts'
export { listFiles, searchFiles } from './list.ts'
export { listFileUses } from './list-uses.ts'
export { handleOverdueLooseObject, removeLoose } from './loose.ts'
export { handleOverdueFile } from './overdue.ts'
export { loadContent, loadDownload, readFile } from './read.ts'
export { deleteFile, releaseFileWrites } from './remove.ts'
export {
  CreatedFileOrFolderSchema,
  CreatedFileSchema,
  CreateFile,
  CreateFileOrFolder,
  contentFields,
  contentTypeForModels,
  DownloadSchema,
  EditFile,
  FileSchema,
  FileUseSchema,
  FileWithDownloadSchema,
  FOLDER_FITS,
  FolderSchema,
  fileFilters,
  fileNameForModels,
  fileSearch,
  folderFits,
  ListedFileSchema,
  RenameFolder,
  SEARCH_FITS,
  searchFits,
  UploadSchema,
} from './schemas.ts'
export { agentFileUser, type FileUser } from './uses.ts'
