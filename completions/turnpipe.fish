complete --keep-order --exclusive --command turnpipe --arguments "(TURNPIPE_COMPLETE=fish turnpipe -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
