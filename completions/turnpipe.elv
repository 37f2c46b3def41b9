
set edit:completion:arg-completer[turnpipe] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) TURNPIPE_COMPLETE="elvish" turnpipe -- $@words) | to-lines
}

