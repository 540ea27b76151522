module com.example.image {
    requires io.bulla.pack;
}
